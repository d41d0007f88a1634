package kube_test

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/sim"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
	"slipway/test/hub"
)

// releaseImage returns the image of the release that the service installs as 4.20.5.
func releaseImage(t *testing.T, service *client.Client) string {
	t.Helper()
	c, err := service.RegisterCluster(t.Context(), wire.ClusterCreateParams{Name: "a", OpenshiftVersion: "4.20.5", PullSecret: pullSecret})
	require.NoError(t, err)
	require.NoError(t, service.DeleteCluster(t.Context(), c.ID))
	return c.OcpReleaseImage
}

// clusterDeployment returns a ClusterDeployment of namespace "one" that the AgentClusterInstall of its name installs.
func clusterDeployment(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hive.openshift.io/v1", "kind": "ClusterDeployment", "metadata": map[string]any{"name": name, "namespace": "one"},
		"spec": map[string]any{
			"baseDomain": "example.com", "clusterName": name, "pullSecretRef": map[string]any{"name": "pull"},
			"platform": map[string]any{"agentBareMetal": map[string]any{"agentSelector": map[string]any{}}},
			"clusterInstallRef": map[string]any{
				"group": "extensions.hive.openshift.io", "version": "v1beta1", "kind": "AgentClusterInstall", "name": name,
			},
		},
	}}
}

func (tr *trial) install(t *testing.T) *hiveext.AgentClusterInstall {
	t.Helper()
	i := &hiveext.AgentClusterInstall{}
	require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "lab"}, i))
	return i
}

func (tr *trial) changeInstall(t *testing.T, fn func(*hiveext.AgentClusterInstall)) {
	t.Helper()
	i := tr.install(t)
	before := i.DeepCopy()
	fn(i)
	require.NoError(t, tr.kube.Patch(t.Context(), i, kube.MergeFrom(before)))
}

// awaitInstall waits until a condition has a status, a reason and a message; an empty message is any.
func (tr *trial) awaitInstall(t *testing.T, condition, status, reason, message string) *hiveext.AgentClusterInstall {
	t.Helper()
	var i *hiveext.AgentClusterInstall
	await.True(t, func() bool {
		i = tr.install(t)
		for _, c := range i.Status.Conditions {
			if string(c.Type) == condition {
				return string(c.Status) == status && c.Reason == reason && (message == "" || c.Message == message)
			}
		}
		return false
	}, "the installation is not "+condition+" "+status+" "+reason+": "+message)
	return i
}

// defined returns the cluster that the resources define; nil: none.
func (tr *trial) defined(t *testing.T) *wire.Cluster {
	t.Helper()
	list, err := tr.service.KubeObjects(t.Context())
	require.NoError(t, err)
	for _, o := range list {
		if o.Kind == "cluster" {
			require.Equal(t, "one/lab", o.Namespace+"/"+o.Name)
			c, err := tr.service.Cluster(t.Context(), o.ID)
			require.NoError(t, err)
			return c
		}
	}
	return nil
}

// parts starts the simulated cluster "lab" and its controller.
func (tr *trial) parts(t *testing.T, dir string, id uuid.UUID, masters int) {
	t.Helper()
	for name, arguments := range map[string][]string{
		"cluster":    {"--name", "lab", "--domain", "example.com", "--control-plane", fmt.Sprint(masters), "--version", "4.20.5"},
		"controller": {"--ignition", filepath.Join(dir, "discovery.ign"), "--cluster-id", id.String()},
	} {
		command := exec.Command(built.Demo(t), append([]string{ //nolint:gosec // a part of the demo
			name, "--root", filepath.Join(dir, name), "--site", filepath.Join(dir, "site"), "--speed", "200",
		}, arguments...)...)
		hub.Run(t, name, filepath.Join(dir, name+".log"), command)
	}
}

// A single node from its YAML to its end: what is missing is said, a user holds and approves, the controllers are killed in between.
func TestClusterIsInstalledByItsResources(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	image := releaseImage(t, tr.service)
	tr.Apply(t, "one", clusterDeployment("lab"))
	require.NoError(t, tr.kube.Create(ctx, &hiveext.AgentClusterInstall{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"},
		Spec: hiveext.AgentClusterInstallSpec{
			ClusterDeploymentRef: corev1.LocalObjectReference{Name: "lab"}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
			ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1}, HoldInstallation: true,
			ManifestsConfigMapRefs: []hiveext.ManifestsConfigMapReference{{Name: "manifests"}},
		},
	}))
	const input = "The Spec could not be synced due to an input error: "
	tr.awaitInstall(t, "SpecSynced", "False", "InputError", input+"require Secret one/pull, found none")
	tr.awaitInstall(t, "Completed", "Unknown", "NotAvailable", "Information not available")
	env := tr.image(t, agentinstall.InfraEnvSpec{AgentApproval: &agentinstall.AgentApproval{}})
	tr.changeInstall(t, func(i *hiveext.AgentClusterInstall) { i.Spec.SSHPublicKey = "" })
	tr.awaitInstall(t, "SpecSynced", "False", "InputError", input+"require ClusterImageSet release, found none")
	require.NoError(t, tr.kube.Create(ctx, &hive.ClusterImageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "release"}, Spec: hive.ClusterImageSetSpec{ReleaseImage: image},
	}))
	tr.awaitInstall(t, "SpecSynced", "False", "InputError", input+"require ConfigMap one/manifests, found none")
	const manifest = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n"
	require.NoError(t, tr.kube.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "manifests", Labels: map[string]string{"agent-install.openshift.io/watch": "true"}},
		Data:       map[string]string{"a.yaml": manifest},
	}))
	tr.awaitInstall(t, "SpecSynced", "True", "SyncOK", specApplied)
	c := tr.defined(t)
	require.Equal(t, []any{"lab", "example.com", 1, "4.20.5", image, true},
		[]any{c.Name, c.BaseDNSDomain, c.ControlPlaneCount, c.OpenshiftVersion, c.OcpReleaseImage, c.UserManagedNetworking})
	content, err := tr.service.Manifest(ctx, c.ID, "openshift", "a.yaml")
	require.NoError(t, err)
	require.Equal(t, manifest, string(content))
	tr.awaitInstall(t, "RequirementsMet", "False", "ClusterNotReady", "The cluster is not ready to begin the installation")

	// Settings follow the resources, and REST does not change them.
	tr.changeInstall(t, func(i *hiveext.AgentClusterInstall) {
		i.Annotations = map[string]string{
			"agent-install.openshift.io/install-config-overrides": `{"fips":false}`,
			"agent-install.openshift.io/ignored-host-validations": `["sufficient-installation-disk-speed"]`,
		}
		i.Spec.Proxy = &agentinstall.Proxy{NoProxy: "example.com", HTTPProxy: "http://proxy.example.com:3128"}
	})
	await.True(t, func() bool {
		c = tr.defined(t)
		return c.InstallConfigOverrides == `{"fips":false}` && c.HTTPProxy == "http://proxy.example.com:3128" &&
			c.IgnoredHostValidations == `["sufficient-installation-disk-speed"]`
	}, "the settings do not come")
	tr.changeInstall(t, func(i *hiveext.AgentClusterInstall) { i.Annotations, i.Spec.Proxy = nil, nil })
	await.True(t, func() bool {
		c = tr.defined(t)
		return c.InstallConfigOverrides == "" && c.HTTPProxy == "" && c.IgnoredHostValidations == ""
	}, "the settings stay")
	_, err = tr.service.UpdateCluster(ctx, c.ID, wire.V2ClusterUpdateParams{Name: new("other")})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "is defined by ClusterDeployment one/lab of Kubernetes")

	// A machine boots, is bound and approved; the user's hold ends last.
	dir := t.TempDir()
	place, err := site.Open(filepath.Join(dir, "site"))
	require.NoError(t, err)
	require.NoError(t, place.SetCluster(site.Cluster{Name: "lab", Domain: "example.com", ControlPlane: 1, Version: "4.20.5"}))
	tr.bootIn(t, dir, env.ID, "single-node", "one")
	tr.parts(t, dir, c.ID, 1)
	tr.awaitAgent(t, "one", "RequirementsMet", "False", "AgentIsNotApproved", "The agent is not approved")
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) {
		s.ClusterDeploymentName = &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	})
	tr.awaitInstall(t, "RequirementsMet", "False", "UnapprovedAgents", "The installation is pending on the approval of 1 agents")
	i := tr.awaitInstall(t, "Completed", "False", "InstallationOnHold",
		"The installation is on hold. To unhold set holdInstallation to false")
	require.Equal(t, []int{1, 1, 0}, []int{
		i.Status.ControlPlaneAgentsDiscovered, i.Status.ControlPlaneAgentsReady, i.Status.WorkerAgentsDiscovered,
	})
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.Approved = true })
	tr.awaitInstall(t, "RequirementsMet", "True", "ClusterIsReady", "The cluster is ready to begin the installation")
	tr.kill(t)
	before := tr.install(t)
	tr.run(t)
	require.Equal(t, wire.ClusterStatusReady, tr.defined(t).Status)
	require.Equal(t, before.ResourceVersion, tr.install(t).ResourceVersion)
	tr.changeInstall(t, func(i *hiveext.AgentClusterInstall) { i.Spec.HoldInstallation = false })
	tr.awaitInstall(t, "Completed", "False", "InstallationInProgress", "")
	tr.awaitInstall(t, "RequirementsMet", "True", "ClusterAlreadyInstalling", "The cluster requirements are met")
	tr.kill(t)
	tr.metrics = built.FreeAddress(t)
	tr.run(t, "--metrics-listen", tr.metrics)

	// The cluster is installed: its credentials are there, and it takes hosts.
	i = tr.awaitInstall(t, "Completed", "True", "InstallationCompleted", "")
	tr.awaitInstall(t, "Stopped", "True", "InstallationCompleted", "The installation has stopped because it completed successfully")
	tr.awaitInstall(t, "Failed", "False", "InstallationNotFailed", "The installation has not failed")
	require.Equal(t, "lab-admin-kubeconfig lab-admin-password",
		i.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name+" "+i.Spec.ClusterMetadata.AdminPasswordSecretRef.Name)
	require.Equal(t, tr.defined(t).OpenshiftClusterID.String(), i.Spec.ClusterMetadata.ClusterID)
	require.NotEqual(t, uuid.Nil.String(), i.Spec.ClusterMetadata.ClusterID)
	s := &corev1.Secret{}
	require.NoError(t, tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab-admin-kubeconfig"}, s))
	kubeconfig, err := tr.service.ClusterCredentialsFile(ctx, c.ID, "kubeconfig")
	require.NoError(t, err)
	require.Equal(t, string(kubeconfig), string(s.Data["kubeconfig"]))
	require.Equal(t, "lab kubeconfig", s.Labels["hive.openshift.io/cluster-deployment-name"]+" "+s.Labels["hive.openshift.io/secret-type"])
	require.NoError(t, tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab-admin-password"}, s))
	require.Equal(t, "kubeadmin", string(s.Data["username"]))
	await.True(t, func() bool { return tr.defined(t).Kind == wire.ClusterKindAddHostsCluster }, "the cluster takes no hosts")
	tr.awaitAgent(t, "one", "Installed", "True", "InstallationCompleted",
		"The installation has completed: "+tr.agent(t, "one").Status.DebugInfo.StateInfo)

	tr.requireWorkflow(t, i.Status.DebugInfo.WorkflowURL, "one/lab")
	host := tr.agent(t, "one")
	require.Contains(t, host.Status.DebugInfo.WorkflowURL, "/hosts/"+host.Name)
	tr.requireMetrics(t)
	c = tr.restored(t)

	// A host joins the cluster that was imported.
	tr.setNames(t, place)
	tr.bootAt(t, dir, tr.found(t).ID, "worker", 120, "two")
	tr.awaitAgent(t, "two", "Bound", "False", "Unbound", "")
	tr.changeAgent(t, "two", func(s *agentinstall.AgentSpec) {
		s.Approved, s.ClusterDeploymentName = true, &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	})
	tr.awaitAgent(t, "two", "Installed", "True", "InstallationCompleted", "")
	require.NoError(t, sim.AwaitNodes(await.Context(t), place, time.Second, "two"))

	// Everything goes, and nothing stays behind.
	a := tr.agent(t, "one")
	require.NoError(t, tr.kube.Delete(ctx, &hive.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"}}))
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab"}, &hive.ClusterDeployment{}))
	}, "the ClusterDeployment is not deleted")
	require.True(t, apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab"}, &hiveext.AgentClusterInstall{})))
	require.Nil(t, tr.defined(t))
	require.NoError(t, tr.kube.Get(ctx, kube.ObjectKeyFromObject(a), a))
	require.Nil(t, a.Spec.ClusterDeploymentName)
}

// restored gives the hub another service, which has nothing: the resources of what is installed are as they were, and the service has the
// cluster for hosts to join. It returns the cluster.
func (tr *trial) restored(t *testing.T) *wire.Cluster {
	t.Helper()
	installed, agent := tr.install(t), tr.agent(t, "one")
	image := tr.env(t).Status.ISODownloadURL
	tr.kill(t)
	tr.data = built.StartDemo(t, built.Binary(t), built.FreeAddress(t))
	tr.service = built.Administrator(t, tr.data)
	require.Nil(t, tr.defined(t))
	tr.run(t)
	await.True(t, func() bool {
		return tr.defined(t) != nil && tr.found(t) != nil && tr.env(t).Status.ISODownloadURL != image
	},
		"cluster and InfraEnv are not made again")
	c := tr.defined(t)
	require.Equal(t, []any{"lab", "example.com", wire.ClusterKindAddHostsCluster, true, installed.Spec.ClusterMetadata.ClusterID},
		[]any{c.Name, c.BaseDNSDomain, c.Kind, c.Imported, c.OpenshiftClusterID.String()})
	now := tr.awaitInstall(t, "SpecSynced", "True", "SyncOK", specApplied)
	await.True(t, func() bool {
		now = tr.install(t)
		return now.Status.DebugInfo.EventsURL != installed.Status.DebugInfo.EventsURL
	},
		"the status does not name the new cluster")
	require.Equal(t, installed.Spec, now.Spec)
	require.Equal(t, withoutMessages(installed.Status), withoutMessages(now.Status))
	require.Equal(t, agent.Status.Conditions, tr.agent(t, "one").Status.Conditions)
	require.Equal(t, agent.Status.Inventory, tr.agent(t, "one").Status.Inventory)
	return c
}

// withoutMessages leaves out what names objects of the service, and times.
func withoutMessages(s hiveext.AgentClusterInstallStatus) hiveext.AgentClusterInstallStatus {
	s = *s.DeepCopy()
	s.DebugInfo, s.ValidationsInfo = agentinstall.DebugInfo{}, nil
	for n := range s.Conditions {
		c := &s.Conditions[n]
		*c = hiveext.ClusterInstallCondition{Type: c.Type, Status: c.Status, Reason: c.Reason}
	}
	return s
}

// Three masters of an InfraEnv that belongs to the cluster, approved by it; a worker joins the installed cluster; another installation is
// deleted while it runs.
func TestControlPlaneOfThreeWithAWorkerThatJoins(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	require.NoError(t, tr.kube.Create(ctx, &hive.ClusterImageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "release"}, Spec: hive.ClusterImageSetSpec{ReleaseImage: releaseImage(t, tr.service)},
	}))
	require.NoError(t, tr.kube.Create(ctx, &hiveext.AgentClusterInstall{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"},
		Spec: hiveext.AgentClusterInstallSpec{
			ClusterDeploymentRef: corev1.LocalObjectReference{Name: "lab"}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
			ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 3},
			APIVIPs:               []string{"192.168.111.5"}, IngressVIPs: []string{"192.168.111.6"},
			Networking: hiveext.Networking{MachineNetwork: []hiveext.MachineNetworkEntry{{CIDR: "192.168.111.0/24"}}},
		},
	}))
	tr.Apply(t, "one", clusterDeployment("lab"))
	env := tr.image(t, agentinstall.InfraEnvSpec{
		ClusterRef: &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}, AgentApproval: &agentinstall.AgentApproval{AutoApprove: true},
	})
	c := tr.defined(t)
	require.Equal(t, c.ID, env.ClusterID)
	dir := t.TempDir()
	place, err := site.Open(filepath.Join(dir, "site"))
	require.NoError(t, err)
	require.NoError(t, place.SetCluster(site.Cluster{Name: "lab", Domain: "example.com", ControlPlane: 3, Version: "4.20.5"}))
	tr.bootIn(t, dir, env.ID, "master", "one", "two --fail=image-write:1", "three")
	tr.parts(t, dir, c.ID, 3)
	tr.commandHosts(t)
	i := tr.awaitInstall(t, "Completed", "True", "InstallationCompleted", "")
	require.Equal(t, "[192.168.111.5] [192.168.111.6] [{192.168.111.0/24}] BareMetal 100",
		fmt.Sprintf("%v %v %v %v %v", i.Status.APIVIPs, i.Status.IngressVIPs, i.Status.MachineNetwork, i.Status.PlatformType,
			i.Status.Progress.TotalPercentage))

	// A worker is bound and approved by its InfraEnv.
	vip := []netip.Addr{netip.MustParseAddr("192.168.111.5")}
	require.NoError(t, place.SetNames(map[string][]netip.Addr{"api.lab.example.com": vip, "api-int.lab.example.com": vip}))
	tr.reachable(t, place)
	tr.bootAt(t, dir, env.ID, "worker", 120, "four --others-approve")
	tr.awaitAgent(t, "four", "Bound", "True", "Bound", "The agent is bound to a cluster deployment")
	await.True(t, func() bool {
		a := tr.agent(t, "four")
		return a.Status.Kind == "AddToExistingClusterHost" && reasonOf(a, "Installed") == "InstallationCompleted"
	}, "the worker does not join")
	require.Equal(t, "added-to-existing-cluster", tr.agent(t, "four").Status.DebugInfo.State)
	require.NoError(t, sim.AwaitNodes(await.Context(t), place, time.Second, "four"))
	var types []string
	await.True(t, func() bool {
		types = nil
		for _, c := range tr.agent(t, "four").Status.CSRStatus.ApprovedCSRs {
			types = append(types, c.Type)
		}
		return len(types) == 2
	}, "the status does not name the certificate requests")
	require.Equal(t, []string{"client", "serving"}, types)
	tr.awaitEvent(t, tr.agent(t, "four"), "CertificateApproved", "client certificate request node-csr-four of node four")

	require.NoError(t, tr.kube.Delete(ctx, &hive.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "lab"}}))
	await.True(t, func() bool {
		var agents agentinstall.AgentList
		require.NoError(t, tr.kube.List(ctx, &agents, kube.InNamespace("one")))
		gone := apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKey{Namespace: "one", Name: "lab"}, &hive.ClusterDeployment{}))
		return gone && len(agents.Items) == 0
	}, "Agents stay behind")
	require.Nil(t, tr.defined(t))
}

// reachable gives the kubeconfig of the cluster the address of its simulated API, which has no name in DNS.
func (tr *trial) reachable(t *testing.T, place *site.Site) {
	t.Helper()
	// The controllers write the Secret until then.
	await.True(t, func() bool { return tr.defined(t).Kind == wire.ClusterKindAddHostsCluster }, "the cluster takes no hosts")
	content, err := kubeapi.Kubeconfig(place.Address(), kubeapi.UserAdmin)
	require.NoError(t, err)
	s := &corev1.Secret{}
	require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "lab-admin-kubeconfig"}, s))
	before := s.DeepCopy()
	s.Data["kubeconfig"] = content
	require.NoError(t, tr.kube.Patch(t.Context(), s, kube.MergeFrom(before)))
}

// A hub is restored while a cluster was installed, and the service has nothing: the resources say so, and the cluster is defined anew.
func TestAnInstallationIsLostWithItsService(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	require.NoError(t, tr.kube.Create(ctx, secret("pull", pullSecret)))
	require.NoError(t, tr.kube.Create(ctx, &hive.ClusterImageSet{
		ObjectMeta: metav1.ObjectMeta{Name: "release"}, Spec: hive.ClusterImageSetSpec{ReleaseImage: releaseImage(t, tr.service)},
	}))
	i := &hiveext.AgentClusterInstall{ObjectMeta: object("lab"), Spec: hiveext.AgentClusterInstallSpec{
		ClusterDeploymentRef: corev1.LocalObjectReference{Name: "lab"}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
		ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1},
	}}
	require.NoError(t, tr.kube.Create(ctx, i))
	i.Status.Conditions = []hiveext.ClusterInstallCondition{{
		Type: "Completed", Status: "False", Reason: "InstallationInProgress", LastProbeTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}}
	i.Status.Progress = &hiveext.ClusterProgress{TotalPercentage: 40}
	require.NoError(t, tr.kube.Status().Update(ctx, i))
	tr.Apply(t, "one", clusterDeployment("lab"))
	tr.run(t)
	tr.awaitInstall(t, "Completed", "False", "InstallationNotStarted", "The installation has not yet started")
	require.NotNil(t, tr.defined(t))
	tr.awaitEvent(t, i, "InstallationLost",
		"the service does not have the installation that was running: boot its hosts from the discovery image to install them again")
}
