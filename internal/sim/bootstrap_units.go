package sim

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Units of the bootstrap services, in the order an installer starts them.
const (
	unitBootkube = "bootkube.service"
	unitApprove  = "approve-csr.service"
	unitProgress = "progress.service"

	unitImagePull    = "node-image-pull.service"
	unitImageOverlay = "node-image-overlay.service"
)

// bootstrapUnits are units that the config of the bootstrap host has to bring.
var bootstrapUnits = []string{unitBootkube, unitApprove, unitProgress, unitImagePull, unitImageOverlay}

// nodeImageMiB: the image of a node needs as much of /var, which is half of the memory in a live system
// (openshift/installer, pull request 10133).
const nodeImageMiB = 8 << 10

func (s shell) smallForNodeImage() bool { return s.options.Spec.MemoryMiB/2 < nodeImageMiB }

// nodeImageState returns the state and the result of a unit that lays the image of a node over the live system. Neither is
// started again when it fails; the overlay needs the pull.
func (s shell) nodeImageState(unit string) (active, result string) {
	state := s.State()
	if state.NodeImageAt.IsZero() {
		return "inactive", "success"
	}
	switch pulled := s.options.Now().Sub(state.NodeImageAt) >= s.clock.Real(s.times.NodeImage); {
	case pulled && s.smallForNodeImage() && unit == unitImagePull:
		return "failed", "exit-code"
	case pulled && s.smallForNodeImage():
		return "inactive", "success"
	case pulled:
		if err := s.writeRoot("/usr/bin/oc", nil); err != nil {
			return "failed", "exit-code"
		}
		return "active", "success"
	case unit == unitImagePull:
		return "activating", "success"
	}
	return "inactive", "success"
}

// unitState returns the state that systemd reports of a unit.
func (s *State) unitState(unit string) string {
	started := !s.BootkubeAt.IsZero()
	switch {
	case unit == "agent.service":
		return "active"
	case unit == unitProgress && started && (s.ProgressDone.IsZero() || s.ProgressAgain):
		return "active"
	case (unit == unitBootkube || unit == unitApprove) && started && s.BootkubeDone.IsZero():
		return "active"
	}
	return "inactive"
}

// bootMark names the boot that completed the bootstrap.
const bootMark = "simulated.slipway/boot"

// runProgress plays progress.service: after bootkube it records in the cluster that the bootstrap is complete. On a
// single node the API has gone with etcd by then, and it asks without end (openshift/installer,
// data/data/bootstrap/files/usr/local/bin/report-progress.sh).
func (m *Machine) runProgress(ctx context.Context, kube kubernetes.Interface, singleNode bool) error {
	if singleNode {
		<-ctx.Done()
		return ctx.Err()
	}
	complete := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kube-system", Name: "bootstrap", Annotations: map[string]string{bootMark: m.State().BootID},
		},
		Data: map[string]string{"status": "complete"},
	}
	maps := kube.CoreV1().ConfigMaps(complete.Namespace)
	for {
		_, err := maps.Create(ctx, complete, metav1.CreateOptions{})
		if err != nil { // that it exists is an error to "oc create" too, unless a process before this one made it
			found, _ := maps.Get(ctx, complete.Name, metav1.GetOptions{})
			if found != nil && found.Annotations[bootMark] == m.State().BootID {
				err = nil
			}
		}
		if err == nil {
			return m.memory.update(func(s *State) { s.ProgressDone = m.options.Now() })
		}
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
}

// serverLog is the log of the machine config server's first container; each restart has another log.
const serverLog = "/var/log/containers/bootstrap-machine-config-server-sim_openshift-machine-config-operator_machine-config-server-0.log"

// serveConfigs keeps the log of the bootstrap host's machine config server: who asked for its Ignition, workers
// too, which it refuses. It ends with the server, which bootkube removes long before it is done.
func (m *Machine) serveConfigs(ctx context.Context) {
	for m.State().MastersAt.IsZero() {
		var lines strings.Builder
		for address, pool := range m.options.Site.Fetches() {
			// In the format of a container's log (CRI), with the server's format inside
			// (openshift/machine-config-operator, pkg/server/api.go).
			fmt.Fprintf(&lines, "2026-01-01T00:00:00.000000000+00:00 stderr F I0101 00:00:00.000000       1 api.go:137] "+
				"Pool %q requested by address:%q User-Agent:\"Ignition/2.20.0\" "+
				"Accept-Header: \"application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1\"\n", pool, address.String()+":40520")
		}
		if lines.Len() > 0 {
			if err := m.writeRoot(serverLog, []byte(lines.String())); err != nil {
				m.log.Error("log of the machine config server not written", "error", err)
			}
		}
		if m.clock.Pause(ctx, look) != nil {
			return
		}
	}
}
