package controller_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

// oc is the client of OpenShift in the image of the Job.
type oc struct {
	t *testing.T
	// fails is the error of every command.
	fails error
}

func (o oc) Run(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	if o.fails != nil {
		return hostexec.Result{}, o.fails
	}
	kubeconfig, err := os.ReadFile(c.Args[1])
	if err != nil || c.Args[0] != "--kubeconfig" || !strings.Contains(string(kubeconfig), kubeapi.UserAdmin) {
		return hostexec.Result{}, fmt.Errorf("require the administrator's kubeconfig, found %s: %w", kubeconfig, err)
	}
	switch args := c.Args[2:]; {
	case strings.HasPrefix(strings.Join(args, " "), "debug node/"):
		if !slices.Contains(args, "quay.io/gather@sha256:1") {
			return hostexec.Result{}, errors.New("require an image of the release")
		}
		return hostexec.Result{Stdout: "reboot   system boot  5.14.0\nreboot   system boot  5.14.0\n\nwtmp begins\n"}, nil
	case args[0] == "adm" && args[1] == "must-gather":
		name := filepath.Join(args[3], "quay-io-gather", "version")
		return hostexec.Result{}, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(strings.Join(args[4:], " ")), 0o600))
	}
	return hostexec.Result{}, fmt.Errorf("unknown command %q", c.Args)
}

// late makes a file of late manifests.
func late(t *testing.T, manifests ...string) string {
	t.Helper()
	var list []map[string]string
	for i, m := range manifests {
		list = append(list, map[string]string{"Name": fmt.Sprintf("late-%d.yaml", i), "Content": base64.StdEncoding.EncodeToString([]byte(m))})
	}
	out, err := json.Marshal(list)
	require.NoError(t, err)
	return string(out)
}

// bareMetal makes a service with a cluster on bare metal.
func bareMetal(t *testing.T, hosts ...wire.Host) *service {
	t.Helper()
	s := newService(t, hosts...)
	s.cluster.Platform = wire.Platform{Type: wire.PlatformTypeBaremetal}
	s.cluster.ServiceNetworks = []wire.ServiceNetwork{{Cidr: "172.30.0.0/16"}}
	return s
}

func TestAFailedInstallationIsGathered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		runner oc
		want   map[string]string // a part of each file
	}{
		"with must-gather": {want: map[string]string{
			"must-gather/quay-io-gather/version": "--image quay.io/gather:1 --image quay.io/lvm-gather:1 --image quay.io/ocs-gather:1",
		}},
		"with the logs of pods in trouble": {
			runner: oc{fails: errors.New("no node takes a pod")},
			want: map[string]string{
				"must-gather-failed.txt": "no node takes a pod", "pods.txt": "openshift-etcd\tetcd-1\tPending",
				"pods/openshift-etcd/etcd-1/etcd.log": "no space left",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, host(t, "sno", "192.168.1.10/24"))
			s.cluster.Status = wire.ClusterStatus(model.ClusterError)
			s.cluster.MonitoredOperators = append(s.cluster.MonitoredOperators,
				wire.MonitoredOperator{Name: "lvm", OperatorType: wire.Olm, Status: "failed"},
				wire.MonitoredOperator{Name: "odf", OperatorType: wire.Olm, Status: "failed"},
				wire.MonitoredOperator{Name: "cnv", OperatorType: wire.Olm, Status: "available"})
			b := newBench(t, s)
			b.options.Runner = tc.runner
			b.options.MustGatherImages = `{"ocp":"quay.io/gather:1","lvm":"quay.io/lvm-gather:1","cnv":"quay.io/cnv-gather:1","ocs":"quay.io/ocs-gather:1"}`
			b.put("pods", map[string]any{
				"apiVersion": "v1", "kind": "Pod",
				"metadata": map[string]any{
					"namespace": "openshift-etcd", "name": "etcd-1", "annotations": map[string]any{kubeapi.LogAnnotation: "no space left\n"},
				},
				"spec":   map[string]any{"containers": []any{map[string]any{"name": "etcd"}}},
				"status": map[string]any{"phase": "Pending"},
			})
			s.before = func(r *http.Request) bool {
				if r.Method == http.MethodPut && len(s.logsStates) == 1 { // the last report of the logs
					s.set(func(c *wire.Cluster) { c.Status = wire.ClusterStatus(model.ClusterCancelled) })
				}
				return true
			}
			require.NoError(t, controller.Run(b.ctx, b.options))
			require.Len(t, s.logs, 1)
			files := tartest.FilesGzip(t, s.logs[0])
			for file, part := range tc.want {
				require.Contains(t, files[file], part, file)
			}
		})
	}
}
