package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/sim/kubeapi"
)

const (
	bootkubeMark  = "/opt/openshift/.bootkube.done"
	singleNodeIgn = "/opt/openshift/master.ign"
	kubeconfig    = "/opt/openshift/auth/kubeconfig"
	// handOverMark lets the operator of etcd hand over to two masters while the bootstrap host is still a member;
	// without it bootkube waits for three (openshift/cluster-etcd-operator, pkg/operator/ceohelpers/bootstrap.go).
	handOverMark    = "/opt/openshift/assisted-install-bootstrap"
	mastersUnmarked = 3
	// look is the time between two looks at the cluster.
	look = 5 * time.Second
)

// runBootstrap plays the bootstrap services from the moment they are started: a
// temporary control plane, to which masters join, and bootkube, which hands over to them.
func (m *Machine) runBootstrap(ctx context.Context) error {
	for {
		state, changed := m.memory.get()
		if !state.BootkubeAt.IsZero() {
			break
		}
		m.rest(ctx, changed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	api, err := m.startControlPlane(ctx)
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return fmt.Errorf("make the client of bootkube: %w", err)
	}
	cluster, err := m.options.Site.Cluster()
	if err != nil {
		return err
	}
	go m.approveRequests(ctx, kube)
	go m.serveConfigs(ctx)
	if m.State().MastersAt.IsZero() { // a process that is started again later than that finds no API to ask
		if err := m.gatherMasters(ctx, api, kube, min(cluster.ControlPlane-1, 2)); err != nil {
			return err
		}
	}
	if err := m.leave(ctx, cluster.ControlPlane == 1); err != nil {
		return err
	}
	if _, err := os.Stat(m.options.root().Path(handOverMark)); err != nil && cluster.ControlPlane > 1 {
		if err := m.waitMasters(ctx, kube, mastersUnmarked); err != nil {
			return err
		}
	}
	if err := m.finishBootkube(ctx); err != nil {
		return err
	}
	return m.runProgress(ctx, kube, cluster.ControlPlane == 1)
}

// gatherMasters creates the manifests of the installation and waits for the masters they are for.
func (m *Machine) gatherMasters(ctx context.Context, api string, kube kubernetes.Interface, enough int) error {
	beside, end := context.WithCancel(ctx)
	defer end()
	created := make(chan struct{})
	go func() {
		defer close(created)
		_ = m.createManifests(beside, api) // the second call returns the error
	}()
	if err := m.waitMasters(ctx, kube, enough); err != nil {
		return err
	}
	end()
	<-created
	if err := m.createManifests(ctx, api); err != nil {
		return err
	}
	// From here the machine config server of this host is gone, and its API too.
	return m.memory.update(m.mastersReady)
}

// misses is how often the monitor of a bootstrap host finds no API in a row, looking every second, before it lets the
// address go to a master (openshift/baremetal-runtimecfg, pkg/monitor/dynkeepalived.go).
const misses = 5

// leave stops the API server of this host. The address of the API moves to a master only after the misses of the monitor; the API of a
// single node answers again when the node runs from its disk.
func (m *Machine) leave(ctx context.Context, singleNode bool) error {
	life := m.State().BootID
	if err := m.options.Site.Leave(life); err != nil || singleNode {
		return err
	}
	if m.options.Site.HandedOver() {
		return nil
	}
	for range misses {
		if err := m.clock.Pause(ctx, time.Second); err != nil {
			return err
		}
	}
	return m.options.Site.HandOver(life)
}

func (m *Machine) mastersReady(s *State) {
	if s.MastersAt.IsZero() {
		s.MastersAt = m.options.Now()
	}
}

// startControlPlane lets the API answer and gives the bootstrap host its kubeconfig.
func (m *Machine) startControlPlane(ctx context.Context) (string, error) {
	if err := m.clock.Until(ctx, m.State().BootkubeAt, m.times.ControlPlane, m.options.Now()); err != nil {
		return "", err
	}
	if m.State().ControlPlaneAt.IsZero() {
		if err := m.options.Site.StartControlPlane(m.State().BootID); err != nil {
			return "", err
		}
		m.note(Entry{Event: EventControlPlane})
		if err := m.memory.update(func(s *State) { s.ControlPlaneAt = m.options.Now() }); err != nil {
			return "", err
		}
	}
	api, err := m.wait(ctx, m.options.Site.Address) // a process that is started again can find the API away
	if err != nil {
		return "", err
	}
	config, err := kubeapi.Kubeconfig(api, kubeapi.UserAdmin)
	if err != nil {
		return "", err
	}
	return api, m.writeRoot(kubeconfig, config)
}

// waitAPI waits until the API of the cluster answers.
func (m *Machine) waitAPI(ctx context.Context) (string, error) {
	return m.wait(ctx, m.options.Site.API)
}

func (m *Machine) wait(ctx context.Context, address func() string) (string, error) {
	for {
		if api := address(); api != "" {
			return api, nil
		}
		if err := m.clock.Pause(ctx, look); err != nil {
			return "", err
		}
	}
}

// waitMasters waits until enough other masters are ready, unless that happened before.
func (m *Machine) waitMasters(ctx context.Context, kube kubernetes.Interface, enough int) error {
	for m.State().BootkubeDone.IsZero() {
		ready, err := readyMasters(ctx, kube)
		if err == nil && ready >= enough {
			return nil
		}
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

func readyMasters(ctx context.Context, kube kubernetes.Interface) (int, error) {
	nodes, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return 0, err
	}
	ready := 0
	for _, node := range nodes.Items {
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready, nil
}

// finishBootkube leaves the mark installers wait for, and on a single node the Ignition
// its disk gets.
func (m *Machine) finishBootkube(ctx context.Context) error {
	if err := m.clock.Until(ctx, m.State().MastersAt, m.times.Bootkube, m.options.Now()); err != nil {
		return err
	}
	if !m.State().BootkubeDone.IsZero() {
		return nil
	}
	if _, err := os.Stat(m.options.root().Path(singleNodeIgn)); err != nil {
		const config = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/kubernetes/bootstrap-in-place",` +
			`"mode":384,"contents":{"source":"data:,simulated"}}]}}`
		if err := m.writeRoot(singleNodeIgn, []byte(config)); err != nil {
			return err
		}
	}
	if err := m.writeRoot(bootkubeMark, nil); err != nil {
		return err
	}
	m.note(Entry{Event: EventBootkubeDone})
	return m.memory.update(func(s *State) { s.BootkubeDone = m.options.Now() })
}

func (m *Machine) writeRoot(path string, content []byte) error {
	path = m.options.root().Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// approveRequests approves every request of a node, as approve-csr.service does.
func (m *Machine) approveRequests(ctx context.Context, kube kubernetes.Interface) {
	requests := kube.CertificatesV1().CertificateSigningRequests()
	for m.clock.Pause(ctx, look) == nil {
		list, err := requests.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue // the API is coming up
		}
		for n := range list.Items {
			csr := &list.Items[n]
			if len(csr.Status.Conditions) > 0 {
				continue
			}
			csr.Status.Conditions = append(csr.Status.Conditions, certv1.CertificateSigningRequestCondition{
				Type: certv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Bootstrap",
				Message: "approved by the bootstrap host",
			})
			if _, err := requests.UpdateApproval(ctx, csr.Name, csr, metav1.UpdateOptions{}); err != nil && ctx.Err() == nil {
				m.log.Debug("request not approved", "request", csr.Name, "error", err)
			}
		}
	}
}
