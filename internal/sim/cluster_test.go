package sim_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/cluster/steps"
	"slipway/internal/sim"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

func TestControlPlaneOfThreeFormsWithTheBootstrapHostLast(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	p.startCluster(t)
	var hosts []uuid.UUID
	var roots []string
	for n := range 3 {
		o := p.options(fmt.Sprintf("master-%d", n), fmt.Sprintf("192.0.2.4%d", n), sim.Faults{})
		p.start(t, o)
		hosts = append(hosts, p.host(p.ctx, t, hosts...))
		roots = append(roots, o.Root)
		p.know(t, hosts[n])
	}
	must := func(reply wire.StepReply) wire.StepReply {
		require.Zero(t, reply.ExitCode, "%s: %s", reply.StepType, reply.Error)
		return reply
	}
	must(p.do(p.ctx, t, hosts[0], steps.BootstrapStart, wire.HostRoleBootstrap))
	for _, host := range hosts[1:] {
		for _, step := range []wire.StepType{steps.IgnitionFetch, steps.ImageWrite, steps.Reboot} {
			must(p.do(p.ctx, t, host, step, wire.HostRoleMaster))
		}
	}
	ready := must(p.do(p.ctx, t, hosts[0], steps.ControlPlaneWait, wire.HostRoleBootstrap))
	var report struct{ Ready []string }
	require.NoError(t, json.Unmarshal([]byte(ready.Output), &report))
	require.Len(t, report.Ready, 2)
	p.subscribed(t, "metallb-system", "metallb-operator")
	for _, step := range []wire.StepType{
		steps.BootkubeWait, steps.BootstrapStart, steps.BootkubeWait, // again, as on a retry: nothing starts twice
		steps.ControllerWait, steps.IgnitionFetch, steps.ImageWrite, steps.Reboot,
	} {
		must(p.do(p.ctx, t, hosts[0], step, wire.HostRoleBootstrap))
	}
	p.seen(t, roots[0], sim.EventNodeReady, 1)
	require.Equal(t, "complete", p.bootstrapStatus(t), "progress.service has ended")
	require.Contains(t, p.reached(hosts[1]), wire.HostStageJoined, "the bootstrap host or the controller reports for the others")
}

// bootstrapStatus returns the status that progress.service records in the cluster.
func (p *place) bootstrapStatus(t *testing.T) string {
	t.Helper()
	kube, err := kubernetes.NewForConfig(kubeapi.Config(p.site.Address(), kubeapi.UserAdmin))
	require.NoError(t, err)
	found, err := kube.CoreV1().ConfigMaps("kube-system").Get(p.ctx, "bootstrap", metav1.GetOptions{})
	require.NoError(t, err)
	return found.Data["status"]
}

// subscribed requires a manifest of the installation in the cluster.
func (p *place) subscribed(t *testing.T, namespace, name string) {
	t.Helper()
	objects, err := dynamic.NewForConfig(kubeapi.Config(p.site.Address(), kubeapi.UserAdmin))
	require.NoError(t, err)
	subscriptions := schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
	await.True(t, func() bool { // the address of the API is on its way to a master
		_, err = objects.Resource(subscriptions).Namespace(namespace).Get(p.ctx, name, metav1.GetOptions{})
		return err == nil
	})
}

// know takes the inventory of a host, as discovery does.
func (p *place) know(t *testing.T, host uuid.UUID) {
	t.Helper()
	reply := p.result(p.ctx, t, p.command(host, wire.StepTypeInventory, host.String()))
	require.Zero(t, reply.ExitCode, reply.Error)
	p.update(func() {
		p.hosts[host].Inventory = reply.Output
		p.hosts[host].RequestedHostname = "node-" + host.String()[:8]
	})
}

func (p *place) reached(host uuid.UUID) []wire.HostStage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stages[host]
}

// A process that is killed while the address of the API leads to no server continues with the hand-over.
func TestBootstrapHostThatIsKilledBetweenItsServerAndThoseOfTheMastersHandsOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3)
	p.startCluster(t)
	var hosts []uuid.UUID
	o := p.options("master-0", "192.0.2.40", sim.Faults{})
	o.Speed, o.Times = 2, sim.Times{BootFix: 1} // no part takes time, but the monitor takes its 5 s
	_, stop := p.start(t, o)
	hosts = append(hosts, p.host(p.ctx, t))
	p.know(t, hosts[0])
	for n := 1; n < 3; n++ {
		p.start(t, p.options(fmt.Sprintf("master-%d", n), fmt.Sprintf("192.0.2.4%d", n), sim.Faults{}))
		hosts = append(hosts, p.host(p.ctx, t, hosts...))
		p.know(t, hosts[n])
	}
	require.Zero(t, p.do(p.ctx, t, hosts[0], steps.BootstrapStart, wire.HostRoleBootstrap).ExitCode)
	for _, host := range hosts[1:] {
		for _, step := range []wire.StepType{steps.IgnitionFetch, steps.ImageWrite, steps.Reboot} {
			require.Zero(t, p.do(p.ctx, t, host, step, wire.HostRoleMaster).ExitCode)
		}
	}
	await.True(t, p.site.Away)
	stop()
	require.True(t, p.site.Away(), "it was killed before the address went to a master")
	p.start(t, o)
	await.True(t, p.site.HandedOver)
	require.Zero(t, p.do(p.ctx, t, hosts[0], steps.BootkubeWait, wire.HostRoleBootstrap).ExitCode)
}
