package kube_test

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/sim"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
	"slipway/internal/testing/await"
)

// Workers of a pool join a single node and leave it again: the node of one is removed when the machine has booted from its image and no
// sooner, also by controllers that start later; an annotation keeps another's, and members of the control plane stay.
func TestNodesOfHostsThatLeaveAreRemoved(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	lab := &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	require.NoError(t, tr.kube.Create(ctx, &hive.ClusterImageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "release"}, Spec: hive.ClusterImageSetSpec{ReleaseImage: releaseImage(t, tr.service)},
	}))
	require.NoError(t, tr.kube.Create(ctx, &hiveext.AgentClusterInstall{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"},
		Spec: hiveext.AgentClusterInstallSpec{
			ClusterDeploymentRef: corev1.LocalObjectReference{Name: "lab"}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
			ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1},
			Networking:            hiveext.Networking{MachineNetwork: []hiveext.MachineNetworkEntry{{CIDR: "192.168.111.0/24"}}},
		},
	}))
	tr.Apply(t, "one", clusterDeployment("lab"))
	env := tr.image(t, agentinstall.InfraEnvSpec{AgentApproval: &agentinstall.AgentApproval{AutoApprove: true}})
	dir := t.TempDir()
	place, err := site.Open(filepath.Join(dir, "site"))
	require.NoError(t, err)
	require.NoError(t, place.SetCluster(site.Cluster{Name: "lab", Domain: "example.com", ControlPlane: 1, Version: "4.20.5"}))
	tr.bootIn(t, dir, env.ID, "single-node", "one")
	bootOne := tr.bootLive
	tr.parts(t, dir, tr.defined(t).ID, 1)
	join := func(s *agentinstall.AgentSpec) { s.ClusterDeploymentName = lab }
	leave := func(s *agentinstall.AgentSpec) { s.ClusterDeploymentName = nil }
	tr.awaitAgent(t, "one", "Bound", "False", "Unbound", "The agent is not bound to any cluster deployment")
	tr.changeAgent(t, "one", join)
	tr.awaitInstall(t, "Completed", "True", "InstallationCompleted", "")
	tr.setNames(t, place)
	tr.bootAt(t, dir, env.ID, "worker", 120, "two", "three")
	for _, name := range []string{"two", "three"} {
		tr.awaitAgent(t, name, "Bound", "False", "Unbound", "The agent is not bound to any cluster deployment")
		tr.changeAgent(t, name, join)
	}
	require.NoError(t, sim.AwaitNodes(await.Context(t), place, time.Second, "two", "three"))
	cluster, err := kubernetes.NewForConfig(kubeapi.Config(place.Address(), kubeapi.UserAdmin))
	require.NoError(t, err)
	exists := func(name string) bool {
		_, err := cluster.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		require.True(t, err == nil || apierrors.IsNotFound(err), "%v", err)
		return err == nil
	}

	// The machine still runs as the node, and the name in its kubeconfig leads nowhere.
	tr.awaitAgent(t, "two", "Installed", "True", "InstallationCompleted", "")
	tr.changeAgent(t, "two", leave)
	const waits = "The agent is currently unbinding; Pending host reboot from infraenv image"
	tr.awaitAgent(t, "two", "Bound", "False", "UnbindingPendingUserAction", waits)
	require.Equal(t, &agentinstall.AgentDeprovisionInfo{ClusterName: "lab", ClusterNamespace: "one", NodeName: "two"},
		tr.agent(t, "two").Status.DeprovisionInfo)
	tr.bootLive("two")
	tr.awaitAgent(t, "two", "Cleanup", "False", "CleanupFailed", "")
	require.True(t, exists("two"))
	tr.kill(t)
	tr.reachable(t, place)
	tr.run(t)
	await.True(t, func() bool { return !exists("two") }, "the node is not removed")
	tr.awaitEvent(t, tr.agent(t, "two"), "NodeRemoved", "node two of cluster one/lab is removed")
	await.True(t, func() bool {
		a := tr.agent(t, "two")
		return a.Status.DeprovisionInfo == nil && reasonOf(a, "Cleanup") == "" && len(a.Status.CSRStatus.ApprovedCSRs) == 0
	}, "the status still names the node")

	// The node of another host stays, because its user wants that. It cannot be reclaimed: no image of CoreOS is here.
	annotate := func(name string) {
		a := tr.agent(t, name)
		before := a.DeepCopy()
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, "agent.agent-install.openshift.io/skip-spoke-cleanup", "true")
		require.NoError(t, tr.kube.Patch(ctx, a, kube.MergeFrom(before)))
	}
	annotate("three")
	tr.awaitAgent(t, "three", "Installed", "True", "InstallationCompleted", "")
	require.NoError(t, place.TakeBack(true))
	tr.command(t, tr.agent(t, "three"), "reclaim", "CommandRefused", "reclaim: require no spec.clusterDeploymentName, found one/lab")
	three := tr.agent(t, "three")
	before := three.DeepCopy()
	metav1.SetMetaDataAnnotation(&three.ObjectMeta, "slipway.dev/command", "reclaim")
	three.Spec.ClusterDeploymentName = nil
	require.NoError(t, tr.kube.Patch(ctx, three, kube.MergeFrom(before)))
	tr.awaitEvent(t, three, "CommandAccepted", "reclaim: accepted")
	tr.awaitAgent(t, "three", "Bound", "False", "UnbindingPendingUserAction", waits)
	tr.bootLive("three")
	tr.awaitAgent(t, "three", "Bound", "False", "Unbound", "The agent is not bound to any cluster deployment")
	require.Nil(t, tr.agent(t, "three").Status.DeprovisionInfo)
	require.True(t, exists("three"))

	require.Equal(t, refusedDeletion(t, tr.Client), refusedDeletion(t, cluster), "as a real server refuses it")

	// A member of the control plane is for its administrator to remove.
	tr.changeAgent(t, "one", leave)
	tr.awaitAgent(t, "one", "Bound", "False", "UnbindingPendingUserAction", waits)
	bootOne("one")
	tr.awaitAgent(t, "one", "Cleanup", "False", "CleanupFailed", "Node one is not removed: it has the role control-plane: remove it "+
		"together with its member of etcd, or keep it by the annotation agent.agent-install.openshift.io/skip-spoke-cleanup=true")
	annotate("one")
	tr.awaitEvent(t, tr.agent(t, "one"), "NodeKept",
		"node one of cluster one/lab is not removed: annotation agent.agent-install.openshift.io/skip-spoke-cleanup")
	require.True(t, exists("one"))

	// The cluster goes, and no host goes back to it.
	require.NoError(t, tr.kube.Delete(ctx, &hive.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"}}))
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab"}, &hive.ClusterDeployment{}))
	}, "the ClusterDeployment is not deleted")
	require.Nil(t, tr.defined(t))
}

// refusedDeletion returns what a server answers to the deletion of an object that has changed since it was read.
func refusedDeletion(t *testing.T, c kubernetes.Interface) string {
	t.Helper()
	maps, ctx := c.CoreV1().ConfigMaps("one"), t.Context()
	first, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	second := first.DeepCopy()
	second.Data = map[string]string{"a": "b"}
	second, err = maps.Update(ctx, second, metav1.UpdateOptions{})
	require.NoError(t, err)
	err = maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &first.ResourceVersion}})
	require.Error(t, err)
	return strings.NewReplacer(first.ResourceVersion, "1", second.ResourceVersion, "2").Replace(err.Error())
}

// setNames publishes the names of the single node "lab", as its users do.
func (tr *trial) setNames(t *testing.T, place *site.Site) {
	t.Helper()
	names, node := map[string][]netip.Addr{}, []netip.Addr{netip.MustParseAddr("192.168.111.20")}
	for _, name := range []string{"api", "api-int", "console-openshift-console.apps"} {
		names[name+".lab.example.com"] = node
	}
	require.NoError(t, place.SetNames(names))
}
