package kube_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
	"slipway/test/hub"
)

// image makes the InfraEnv "env" and returns its object, once hosts can boot from it.
func (tr *trial) image(t *testing.T, spec agentinstall.InfraEnvSpec) *wire.InfraEnv {
	t.Helper()
	require.NoError(t, tr.kube.Create(t.Context(), secret("pull", pullSecret)))
	spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"}
	require.NoError(t, tr.kube.Create(t.Context(), &agentinstall.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "env"}, Spec: spec,
	}))
	tr.awaitCondition(t, "True", "ImageCreated", "Image has been created")
	return tr.found(t)
}

// boot starts simulated machines on the image; the function that it returns ends one.
func (tr *trial) boot(t *testing.T, env uuid.UUID, names ...string) (end func(name string)) {
	t.Helper()
	return tr.bootIn(t, t.TempDir(), env, "master", names...)
}

// bootIn does what boot does, with machines of a shape whose parts are in a folder.
func (tr *trial) bootIn(t *testing.T, dir string, env uuid.UUID, shape string, names ...string) (end func(name string)) {
	t.Helper()
	return tr.bootAt(t, dir, env, shape, 20, names...)
}

// bootAt does what bootIn does, with machines from an address of 192.168.111.0/24 on. Flags of a machine may follow its name.
func (tr *trial) bootAt(t *testing.T, dir string, env uuid.UUID, shape string, from int, names ...string) (end func(name string)) {
	t.Helper()
	config, err := tr.service.DiscoveryIgnition(t.Context(), env)
	require.NoError(t, err)
	ignition := filepath.Join(dir, "discovery.ign")
	require.NoError(t, os.WriteFile(ignition, config, 0o600))
	machines := map[string]*hub.Process{}
	tr.bootLive = func(name string) { require.NoError(t, machines[name].Process.Signal(syscall.SIGUSR2)) }
	for n, name := range names {
		name, flags, _ := strings.Cut(name, " ")
		machines[name] = hub.Run(t, name, filepath.Join(dir, name+".log"), exec.Command(built.Demo(t), append([]string{ //nolint:gosec // ours
			"machine", "--root", filepath.Join(dir, name), "--site", filepath.Join(dir, "site"), "--speed", "200", "--ignition", ignition,
			"--name", name, "--shape", shape, "--address", fmt.Sprintf("192.168.111.%d/24", from+n),
		}, strings.Fields(flags)...)...))
	}
	return func(name string) {
		require.NoError(t, machines[name].Process.Kill())
		<-machines[name].Ended
	}
}

// agent returns the Agent of the machine with a name; nil: none.
func (tr *trial) agent(t *testing.T, hostname string) *agentinstall.Agent {
	t.Helper()
	var list agentinstall.AgentList
	require.NoError(t, tr.kube.List(t.Context(), &list, kube.InNamespace("one")))
	for n := range list.Items {
		if list.Items[n].Status.Inventory.Hostname == hostname {
			return &list.Items[n]
		}
	}
	return nil
}

// awaitAgent waits until a condition of a machine's Agent has a status, a reason and a message; an empty message is any.
func (tr *trial) awaitAgent(t *testing.T, hostname, condition, status, reason, message string) *agentinstall.Agent {
	t.Helper()
	var a *agentinstall.Agent
	await.True(t, func() bool {
		if a = tr.agent(t, hostname); a == nil {
			return false
		}
		for _, c := range a.Status.Conditions {
			if string(c.Type) == condition {
				return string(c.Status) == status && c.Reason == reason && (message == "" || c.Message == message)
			}
		}
		return false
	}, hostname+" is not "+reason+": "+message)
	return a
}

func (tr *trial) changeAgent(t *testing.T, hostname string, fn func(*agentinstall.AgentSpec)) {
	t.Helper()
	a := tr.agent(t, hostname)
	before := a.DeepCopy()
	fn(&a.Spec)
	require.NoError(t, tr.kube.Patch(t.Context(), a, kube.MergeFrom(before)))
}

const (
	specApplied = "The Spec has been successfully applied"
	inputFault  = "The Spec could not be synced due to an input error: "
)

// Hosts from their first boot to their deletion, with what users write into their Agents, and with the controllers killed in between.
func TestAgentsFollowHostsAndHostsFollowAgents(t *testing.T) {
	t.Parallel()
	tr := start(t)
	ctx := t.Context()
	tr.run(t)
	env := tr.image(t, agentinstall.InfraEnvSpec{AgentLabels: map[string]string{"rack": "a"}})
	end := tr.boot(t, env.ID, "one", "two")
	a := tr.awaitAgent(t, "one", "RequirementsMet", "False", "AgentIsNotApproved", "The agent is not approved")
	host := func() *wire.Host {
		h, err := tr.service.Host(ctx, env.ID, uuid.MustParse(a.Name))
		require.NoError(t, err)
		return h
	}
	awaitHost := func(what string, holds func(*wire.Host) bool) {
		t.Helper()
		await.True(t, func() bool { return holds(host()) }, what)
	}

	// What is known of a host stands in its Agent.
	require.Equal(t, []string{"agent.agent-install.openshift.io/ai-deprovision"}, a.Finalizers)
	require.Equal(t, "InfraEnv env", a.OwnerReferences[0].Kind+" "+a.OwnerReferences[0].Name)
	for key, value := range map[string]string{
		"rack": "a", "infraenvs.agent-install.openshift.io": "env",
		"inventory.agent-install.openshift.io/cpu-architecture":             "x86_64",
		"inventory.agent-install.openshift.io/storage-hasnonrotationaldisk": "true",
		"agent-install.openshift.io/clusterdeployment-namespace":            "",
		"cluster.open-cluster-management.io/backup":                         "true",
	} {
		require.Equal(t, value, a.Labels[key], key)
	}
	require.Equal(t, "known-unbound", a.Annotations["agent.agent-install.openshift.io/state"])
	require.Contains(t, a.Annotations["agent.agent-install.openshift.io/inventory"], `"hostname":"one"`)
	require.Equal(t, "known-unbound", a.Status.DebugInfo.State)
	require.Contains(t, a.Status.DebugInfo.EventsURL, "host_id="+a.Name)
	require.NotEmpty(t, a.Status.Inventory.Disks)
	require.NotEmpty(t, a.Status.ValidationsInfo["hardware"])
	require.NotEmpty(t, a.Status.NtpSources)
	tr.awaitAgent(t, "one", "Connected", "True", "AgentIsConnected",
		"The agent's connection to the installation service is unimpaired")
	tr.awaitAgent(t, "one", "Validated", "True", "ValidationsPassing", "The agent's validations are passing")
	tr.awaitAgent(t, "one", "Installed", "False", "InstallationNotStarted", "The installation has not yet started")
	tr.awaitAgent(t, "one", "Bound", "False", "Unbound", "The agent is not bound to any cluster deployment")

	// What is written into an Agent is done to the host, and by its Agent alone.
	disk := a.Status.Inventory.Disks[0]
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) {
		s.Approved, s.Hostname, s.Role, s.MachineConfigPool = true, "renamed", "worker", "infra"
		s.InstallerArgs, s.NodeLabels = `["--append-karg", "nameserver=192.0.2.1"]`, map[string]string{"site": "a"}
		s.IgnitionConfigOverrides, s.InstallationDiskPath = `{"ignition":{"version":"3.2.0"}}`, disk.ByID
	})
	tr.awaitAgent(t, "one", "RequirementsMet", "True", "AgentIsReady", "The agent is ready to begin the installation")
	awaitHost("the host does not follow", func(h *wire.Host) bool {
		return h.RequestedHostname == "renamed" && h.Role == "worker" && h.MachineConfigPoolName == "infra" && h.NodeLabels == `{"site":"a"}` &&
			h.InstallerArgs != "" && h.IgnitionConfigOverrides != "" && h.InstallationDiskID == disk.ID
	})
	_, err := tr.service.UpdateHost(ctx, env.ID, host().ID, wire.HostUpdateParams{HostName: new("other")})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "is defined by Agent one/"+a.Name+" of Kubernetes")

	// Wrong settings are said to be wrong, and the others stay.
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.InstallerArgs = "--append-karg" })
	await.True(t, func() bool { return reasonOf(tr.agent(t, "one"), "SpecSynced") == "InputError" }, "a bad list is taken")
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.InstallerArgs, s.NodeLabels = "", nil })
	tr.awaitAgent(t, "one", "SpecSynced", "True", "SyncOK", specApplied)
	awaitHost("arguments and labels stay", func(h *wire.Host) bool { return h.InstallerArgs == "[]" || h.InstallerArgs == "" })
	require.Contains(t, []string{"", "{}"}, host().NodeLabels)
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.InstallationDiskPath = "/dev/none" })
	tr.awaitAgent(t, "one", "SpecSynced", "False", "InputError", inputFault+
		`spec.installation_disk_path: require a path of a disk in the inventory, found "/dev/none"`)
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.InstallationDiskPath = "" })
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) {
		s.IgnitionEndpointTokenReference = &agentinstall.ObjectReference{Namespace: "one", Name: "token"}
	})
	tr.awaitAgent(t, "one", "SpecSynced", "False", "InputError", inputFault+"require Secret one/token, found none")
	require.NoError(t, tr.kube.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "token", Labels: map[string]string{"agent-install.openshift.io/watch": "true"}},
		StringData: map[string]string{"ignition-token": "abc"},
	}))
	awaitHost("the token does not come", func(h *wire.Host) bool { return h.IgnitionEndpointTokenSet })

	// Nothing is written while nothing changes, also by controllers that were killed and know nothing.
	tr.awaitAgent(t, "one", "SpecSynced", "True", "SyncOK", specApplied)
	two := tr.awaitAgent(t, "two", "RequirementsMet", "False", "AgentIsNotApproved", "The agent is not approved")
	tr.kill(t)
	before, updated := tr.agent(t, "two"), host().UpdatedAt
	tr.run(t)
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.IgnitionEndpointTokenReference = nil })
	awaitHost("the token stays", func(h *wire.Host) bool { return !h.IgnitionEndpointTokenSet })
	require.NotEqual(t, updated, host().UpdatedAt)
	require.Equal(t, before.ResourceVersion, tr.agent(t, "two").ResourceVersion)

	// Classifications label hosts, and leave no label behind.
	large := &agentinstall.AgentClassification{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "large"},
		Spec:       agentinstall.AgentClassificationSpec{LabelKey: "size", LabelValue: "large", Query: ".cpu.count >= 1"},
	}
	broken := large.DeepCopy()
	broken.Name, broken.Spec.LabelKey, broken.Spec.Query = "broken", "broken", ".hostname.a"
	require.NoError(t, tr.kube.Create(ctx, large))
	require.NoError(t, tr.kube.Create(ctx, broken))
	const sizes = "agentclassification.agent-install.openshift.io/"
	counted := func(c *agentinstall.AgentClassification, matches, failures int) {
		t.Helper()
		await.True(t, func() bool {
			require.NoError(t, tr.kube.Get(ctx, kube.ObjectKeyFromObject(c), c))
			return c.Status.MatchedCount == matches && c.Status.ErrorCount == failures
		}, c.Name+" does not count Agents")
	}
	counted(large, 2, 0)
	counted(broken, 0, 2)
	require.Equal(t, "large QUERYERROR-large", tr.agent(t, "one").Labels[sizes+"size"]+" "+tr.agent(t, "one").Labels[sizes+"broken"])
	large.Spec.Query = ".hostname == \"two\""
	require.NoError(t, tr.kube.Update(ctx, large))
	counted(large, 1, 0)
	for _, c := range []*agentinstall.AgentClassification{large, broken} {
		require.NoError(t, tr.kube.Delete(ctx, c))
		await.True(t, func() bool { return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKeyFromObject(c), c)) }, c.Name+" is not deleted")
	}
	require.NotContains(t, tr.agent(t, "two").Labels, sizes+"size")
	require.NotContains(t, tr.agent(t, "two").Labels, sizes+"broken")

	// A host is bound to a cluster, and unbound again.
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) {
		s.ClusterDeploymentName = &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	})
	tr.awaitAgent(t, "one", "SpecSynced", "False", "BackendError",
		"The Spec could not be synced due to backend error: ClusterDeployment one/lab is missing")
	cluster, err := tr.owner.RegisterCluster(ctx, wire.ClusterCreateParams{
		Name: "lab", OpenshiftVersion: "4.20.5", PullSecret: pullSecret, BaseDNSDomain: new("example.com"),
	}, client.WithKubeKey("one", "lab"))
	require.NoError(t, err)
	tr.Apply(t, "one", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hive.openshift.io/v1", "kind": "ClusterDeployment", "metadata": map[string]any{"name": "lab"},
		"spec": map[string]any{
			"baseDomain": "example.com", "clusterName": "lab", "pullSecretRef": map[string]any{"name": "pull"},
			"platform": map[string]any{"agentBareMetal": map[string]any{"agentSelector": map[string]any{}}},
		},
	}})
	a = tr.awaitAgent(t, "one", "Bound", "True", "Bound", "The agent is bound to a cluster deployment")
	require.Equal(t, "one", a.Labels["agent-install.openshift.io/clusterdeployment-namespace"])
	require.Equal(t, cluster.ID, host().ClusterID)
	tr.changeAgent(t, "one", func(s *agentinstall.AgentSpec) { s.ClusterDeploymentName = nil })
	tr.awaitAgent(t, "one", "Bound", "False", "Unbound", "The agent is not bound to any cluster deployment")
	require.Equal(t, uuid.Nil, host().ClusterID)

	// An Agent goes once the service has forgotten its host, and with its InfraEnv.
	require.ErrorIs(t, tr.service.DeleteHost(ctx, env.ID, host().ID), model.ErrConflict)
	end("one")
	tr.kill(t)
	require.NoError(t, tr.kube.Delete(ctx, a))
	require.NotNil(t, host())
	tr.run(t)
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKeyFromObject(a), &agentinstall.Agent{}))
	}, "the Agent is not deleted")
	_, err = tr.service.Host(ctx, env.ID, uuid.MustParse(a.Name))
	require.ErrorIs(t, err, model.ErrNotFound)
	require.NoError(t, tr.kube.Delete(ctx, tr.env(t)))
	await.True(t, func() bool {
		return apierrors.IsNotFound(tr.kube.Get(ctx, kube.ObjectKeyFromObject(two), &agentinstall.Agent{}))
	}, "the InfraEnv leaves an Agent behind")
}

func reasonOf(a *agentinstall.Agent, condition string) string {
	for _, c := range a.Status.Conditions {
		if string(c.Type) == condition {
			return c.Reason
		}
	}
	return ""
}
