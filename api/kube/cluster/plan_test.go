package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/cluster"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var now = metav1.NewTime(time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC))

func inputs(status wire.ClusterStatus) cluster.Inputs {
	return cluster.Inputs{
		Deployment: &hive.ClusterDeployment{Spec: hive.ClusterDeploymentSpec{ClusterName: "lab", BaseDomain: "example.com"}},
		Install: &hiveext.AgentClusterInstall{Spec: hiveext.AgentClusterInstallSpec{
			ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 3, WorkerAgents: 1},
		}},
		PullSecret: "secret", ReleaseImage: "quay.io/openshift-release-dev/ocp-release:4.20.5-x86_64",
		Cluster: &wire.Cluster{ID: uuid.New(), Status: status, StatusInfo: "why"},
	}
}

// with adds a host that is known and approved.
func with(in cluster.Inputs, role wire.HostRole, change ...func(*wire.Host, *agentinstall.Agent)) cluster.Inputs {
	h := wire.Host{ID: uuid.New(), Status: "known", Role: role, Kind: "Host"}
	a := agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Name: h.ID.String()}, Spec: agentinstall.AgentSpec{Approved: true}}
	for _, fn := range change {
		fn(&h, &a)
	}
	in.Cluster.Hosts, in.Agents = append(in.Cluster.Hosts, h), append(in.Agents, a)
	return in
}

// sent returns the settings that are sent for a spec, in JSON.
func sent(t *testing.T, change func(*hiveext.AgentClusterInstallSpec)) map[string]any {
	t.Helper()
	in := inputs("ready")
	change(&in.Install.Spec)
	update, err := cluster.Update(in)
	require.NoError(t, err)
	text, err := json.Marshal(update)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func TestSettingsOfASpec(t *testing.T) {
	t.Parallel()
	type spec = hiveext.AgentClusterInstallSpec
	list := func(values ...any) []any { return values }
	object := func(pairs ...any) map[string]any {
		out := map[string]any{}
		for n := 0; n < len(pairs); n += 2 {
			out[fmt.Sprint(pairs[n])] = pairs[n+1]
		}
		return out
	}
	for name, c := range map[string]struct {
		change func(*spec)
		key    string
		want   any // nil: the service chooses
	}{
		"name":              {func(*spec) {}, "name", "lab"},
		"domain":            {func(*spec) {}, "base_dns_domain", "example.com"},
		"pull secret":       {func(*spec) {}, "pull_secret", "secret"},
		"control plane":     {func(*spec) {}, "control_plane_count", 3.0},
		"key":               {func(s *spec) { s.SSHPublicKey = " ssh-ed25519 A \n" }, "ssh_public_key", "ssh-ed25519 A"},
		"no key":            {func(*spec) {}, "ssh_public_key", ""},
		"no networks":       {func(*spec) {}, "machine_networks", nil},
		"no addresses":      {func(*spec) {}, "api_vips", nil},
		"no platform":       {func(*spec) {}, "platform", nil},
		"no proxy":          {func(*spec) {}, "http_proxy", ""},
		"no encryption":     {func(*spec) {}, "disk_encryption", object("enable_on", "none")},
		"user's networking": {func(s *spec) { s.Networking.UserManagedNetworking = new(true) }, "user_managed_networking", true},
		"own networking":    {func(*spec) {}, "user_managed_networking", false},
		"single node": {
			func(s *spec) {
				s.ProvisionRequirements = hiveext.ProvisionRequirements{ControlPlaneAgents: 1}
			}, "user_managed_networking", true,
		},
		"schedulable": {func(s *spec) { s.MastersSchedulable = true }, "schedulable_masters", true},
		"time":        {func(s *spec) { s.NTPSources = []string{"a", "b"} }, "ntp_sources", "a,b"},
		"one address": {func(s *spec) { s.APIVIP = "192.0.2.1" }, "api_vips", list(object("ip", "192.0.2.1"))},
		"two addresses": {
			func(s *spec) {
				s.APIVIPs, s.APIVIP = []string{"192.0.2.1", "2001:db8::1"}, "192.0.2.1"
			}, "api_vips", list(object("ip", "192.0.2.1"), object("ip", "2001:db8::1")),
		},
		"ingress": {func(s *spec) { s.IngressVIPs = []string{"192.0.2.2"} }, "ingress_vips", list(object("ip", "192.0.2.2"))},
		"pods": {func(s *spec) {
			s.Networking.ClusterNetwork = []hiveext.ClusterNetworkEntry{{CIDR: "10.128.0.0/14", HostPrefix: 23}}
		}, "cluster_networks", list(object("cidr", "10.128.0.0/14", "host_prefix", 23.0))},
		"services": {
			func(s *spec) {
				s.Networking.ServiceNetwork = []string{"172.30.0.0/16"}
			}, "service_networks", list(object("cidr", "172.30.0.0/16")),
		},
		"machines": {
			func(s *spec) {
				s.Networking.MachineNetwork = []hiveext.MachineNetworkEntry{{CIDR: "192.0.2.0/24"}}
			}, "machine_networks", list(object("cidr", "192.0.2.0/24")),
		},
		"plugin": {func(s *spec) { s.Networking.NetworkType = "OVNKubernetes" }, "network_type", "OVNKubernetes"},
		"proxy":  {func(s *spec) { s.Proxy = &agentinstall.Proxy{NoProxy: "a"} }, "no_proxy", "a"},
		"encryption": {
			func(s *spec) {
				s.DiskEncryption = &hiveext.DiskEncryption{EnableOn: new("all"), Mode: new("tpmv2")}
			}, "disk_encryption", object("enable_on", "all", "mode", "tpmv2"),
		},
		"platform": {func(s *spec) { s.PlatformType = "None" }, "platform", object("type", "none", "external", object())},
		"external": {func(s *spec) {
			s.PlatformType = "External"
			s.ExternalPlatformSpec = &hiveext.ExternalPlatformSpec{PlatformName: "oci", CloudControllerManager: "External"}
		}, "platform", object("type", "external", "external", object("platform_name", "oci", "cloud_controller_manager", "External"))},
		"endpoint": {
			func(s *spec) {
				s.IgnitionEndpoint = &hiveext.IgnitionEndpoint{Url: "https://a:22624/config"}
			}, "ignition_endpoint", object("url", "https://a:22624/config"),
		},
		"balancer": {
			func(s *spec) {
				s.LoadBalancer = &hiveext.LoadBalancer{Type: "UserManaged"}
			}, "load_balancer", object("type", "user-managed"),
		},
		"hyperthreading": {func(*spec) {}, "hyperthreading", "all"},
		"masters without": {
			func(s *spec) {
				s.ControlPlane = &hiveext.AgentMachinePool{Name: "master", Hyperthreading: "Disabled"}
			}, "hyperthreading", "workers",
		},
		"workers without": {
			func(s *spec) {
				s.Compute = []hiveext.AgentMachinePool{{Name: "worker", Hyperthreading: "Disabled"}}
			}, "hyperthreading", "masters",
		},
		"all without": {func(s *spec) {
			s.ControlPlane = &hiveext.AgentMachinePool{Name: "master", Hyperthreading: "Disabled"}
			s.Compute = []hiveext.AgentMachinePool{{Name: "worker", Hyperthreading: "Disabled"}}
		}, "hyperthreading", "none"},
	} {
		require.Equal(t, c.want, sent(t, c.change)[c.key], name)
	}
}

func TestReleasesHaveTheVersionOfTheirTag(t *testing.T) {
	t.Parallel()
	for image, version := range map[string]string{
		"quay.io/openshift-release-dev/ocp-release:4.20.5-x86_64":      "4.20.5",
		"quay.io/openshift-release-dev/ocp-release:4.21.0-rc.1-multi":  "4.21.0-rc.1",
		"registry.example.com:5000/ocp:4.20.5":                         "4.20.5",
		"quay.io/openshift-release-dev/ocp-release@sha256:0123456789a": "",
		"registry.example.com:5000/ocp":                                "",
	} {
		in := inputs("")
		in.ReleaseImage = image
		p, err := cluster.Create(in)
		require.NoError(t, err)
		require.Equal(t, version, p.OpenshiftVersion, image)
		require.Equal(t, image, *p.OcpReleaseImage)
		require.Equal(t, "lab example.com secret 3", fmt.Sprint(p.Name, " ", *p.BaseDNSDomain, " ", p.PullSecret, " ", *p.ControlPlaneCount))
	}
}

// ready has the hosts that the spec asks for.
func ready(change ...func(*wire.Host, *agentinstall.Agent)) cluster.Inputs {
	in := inputs("ready")
	for range 3 {
		in = with(in, "master")
	}
	return with(in, "worker", change...)
}

func TestInstallationsBeginWithExactlyTheHostsOfTheSpec(t *testing.T) {
	t.Parallel()
	require.True(t, cluster.Ready(ready()))
	suggested := ready(func(h *wire.Host, _ *agentinstall.Agent) { h.Role, h.SuggestedRole = "auto-assign", "worker" })
	require.True(t, cluster.Ready(suggested))
	failed := ready()
	failed.Cluster.LastInstallationPreparation.Status = "failed"
	require.True(t, cluster.Ready(failed), "the user has changed the spec")
	failed.Attempted = true
	require.False(t, cluster.Ready(failed), "it would fail again")
	held := ready()
	held.Install.Spec.HoldInstallation = true
	early := ready()
	early.Cluster.Status = "insufficient"
	const needs = "The cluster currently requires exactly 3 master agents, 0 arbiter agents and 1 worker agents, "
	for name, c := range map[string]struct {
		in   cluster.Inputs
		says string
	}{
		"held":  {held, "True ClusterIsReady The cluster is ready to begin the installation"},
		"early": {early, "False ClusterNotReady The cluster is not ready to begin the installation"},
		"unapproved": {
			ready(func(_ *wire.Host, a *agentinstall.Agent) { a.Spec.Approved = false }),
			"False UnapprovedAgents The installation is pending on the approval of 1 agents",
		},
		"unsynced": {ready(func(_ *wire.Host, a *agentinstall.Agent) {
			a.Status.Conditions = []agentinstall.Condition{{Type: "SpecSynced", Status: "False"}}
		}), "False UnsyncedAgents The cluster currently has 1 agents with spec error"},
		"one that is not ready": {
			ready(func(h *wire.Host, _ *agentinstall.Agent) { h.Status = "insufficient" }), "False InsufficientAgents " + needs +
				"but currently registered 3 master agents, 0 arbiter agents and 0 worker agents",
		},
		"one too many": {
			with(ready(), "arbiter"), "False InsufficientAgents " + needs +
				"but currently registered 3 master agents, 1 arbiter agents and 1 worker agents",
		},
		"a host without an Agent": {
			ready(func(_ *wire.Host, a *agentinstall.Agent) { a.Name = "other" }),
			"False UnapprovedAgents The installation is pending on the approval of 1 agents",
		},
	} {
		require.False(t, cluster.Ready(c.in), name)
		s, err := cluster.Status(c.in, "https://a", nil, now)
		require.NoError(t, err)
		require.Equal(t, c.says, verdict(s, "RequirementsMet"), name)
	}
}

func verdict(s hiveext.AgentClusterInstallStatus, kind string) string {
	for _, c := range s.Conditions {
		if string(c.Type) == kind {
			return string(c.Status) + " " + c.Reason + " " + c.Message
		}
	}
	return ""
}

// Each status of a cluster, with the conditions that the existing service gives it (openshift/assisted-service,
// internal/controller/controllers/clusterdeployments_controller.go), and that hive reads.
func TestConditionsOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[wire.ClusterStatus]string{
		"insufficient":                   "F:ClusterNotReady F:Failing F:NotStarted F:NotFailed F:NotStopped",
		"pending-for-input":              "F:ClusterNotReady F:UserPending F:NotStarted F:NotFailed F:NotStopped",
		"ready":                          "F:InsufficientAgents T:Passing F:NotStarted F:NotFailed F:NotStopped",
		"preparing-for-installation":     "T:ClusterAlreadyInstalling T:Passing F:InProgress F:NotFailed F:NotStopped",
		"installing":                     "T:ClusterAlreadyInstalling T:Passing F:InProgress F:NotFailed F:NotStopped",
		"installing-pending-user-action": "T:ClusterAlreadyInstalling T:Passing F:InProgress F:NotFailed F:NotStopped",
		"finalizing":                     "T:ClusterAlreadyInstalling T:Passing F:InProgress F:NotFailed F:NotStopped",
		"installed":                      "T:ClusterStopped T:Passing T:Completed F:NotFailed T:Completed",
		"adding-hosts":                   "T:ClusterAlreadyInstalling T:Passing T:Completed F:NotFailed T:Completed",
		"error":                          "T:ClusterStopped T:Passing F:Failed T:Failed T:Failed",
		"cancelled":                      "U:UnknownStatus T:Passing U:UnknownStatus F:NotFailed T:Cancelled",
	} {
		in := inputs(status)
		in.Cluster.ValidationsInfo = `{"network":[{"id":"a","status":"failure","message":"A"},{"id":"b","status":"success","message":"B"}]}`
		s, err := cluster.Status(in, "https://a", nil, now)
		require.NoError(t, err)
		var got []string
		for _, c := range s.Conditions[1:6] {
			got = append(got, string(c.Status[:1])+":"+strings.NewReplacer("Installation", "", "Validations", "").Replace(c.Reason))
			if strings.HasPrefix(c.Reason, "ValidationsFailing") || strings.HasPrefix(c.Reason, "ValidationsUserPending") {
				require.True(t, strings.HasSuffix(c.Message, ": A"), c.Message)
			}
		}
		require.Equal(t, want, strings.Join(got, " "), status)
	}
	held := inputs("ready")
	held.Install.Spec.HoldInstallation = true
	s, err := cluster.Status(held, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, "False InstallationOnHold The installation is on hold. To unhold set holdInstallation to false", verdict(s, "Completed"))
	require.Equal(t, "Unknown ValidationsUnknown The cluster's validations have not yet been calculated", verdict(s, "Validated"))
}

func TestErrorsAreTheUsersOrTheServices(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"True SyncOK The Spec has been successfully applied":                              nil,
		"False InputError The Spec could not be synced due to an input error: no":         model.Invalidf("no"),
		"False BackendError The Spec could not be synced due to backend error: no answer": errors.New("no answer"),
	} {
		in := inputs("ready")
		s, statusErr := cluster.Status(in, "https://a", err, now)
		require.NoError(t, statusErr)
		require.Equal(t, want, verdict(s, "SpecSynced"))
		in.Cluster = nil
		s, statusErr = cluster.Status(in, "https://a", err, now)
		require.NoError(t, statusErr)
		require.Equal(t, want, verdict(s, "SpecSynced"))
		require.Equal(t, "Unknown NotAvailable Information not available", verdict(s, "Completed"))
	}
}

// A cluster that is installed and that the service does not have, or has imported, keeps what its resources say.
func TestInstalledClustersKeepTheirStatus(t *testing.T) {
	t.Parallel()
	in := inputs("installed")
	in.Cluster.APIVips = []wire.APIVip{{IP: "192.0.2.5"}}
	in.Cluster.LastInstallationPreparation.Status = "success"
	before, err := cluster.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	in.Install.Status, in.Cluster = before, nil
	missing, err := cluster.Status(in, "https://a", model.Invalidf("no"), now)
	require.NoError(t, err)
	require.Equal(t, "False InputError The Spec could not be synced due to an input error: no", verdict(missing, "SpecSynced"))
	require.Equal(t, verdict(before, "Completed"), verdict(missing, "Completed"))
	require.Equal(t, before.DebugInfo, missing.DebugInfo)

	in.Cluster = &wire.Cluster{ID: uuid.New(), Status: "adding-hosts", Kind: "AddHostsCluster", Imported: true}
	imported, err := cluster.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, "192.0.2.5", imported.APIVIP)
	require.Equal(t, before.Progress, imported.Progress)
	require.Equal(t, verdict(before, "LastInstallationPreparationFailed"), verdict(imported, "LastInstallationPreparationFailed"))
	require.Contains(t, imported.DebugInfo.EventsURL, in.Cluster.ID.String())
}

func TestPreparationsThatFailAreSaid(t *testing.T) {
	t.Parallel()
	in := inputs("ready")
	for status, want := range map[wire.LastInstallationPreparationStatus]string{
		"failed":      "True The last installation preparation failed no ignition",
		"success":     "False There is no failing prior preparation attempt ",
		"not_started": "False Cluster preparation has never been performed for this cluster ",
	} {
		in.Cluster.LastInstallationPreparation = wire.LastInstallationPreparation{Status: status, Reason: "no ignition"}
		s, err := cluster.Status(in, "https://a", nil, now)
		require.NoError(t, err)
		require.Equal(t, want, verdict(s, "LastInstallationPreparationFailed"))
	}
}

func TestStatusSaysWhatTheClusterIs(t *testing.T) {
	t.Parallel()
	in := with(ready(), "worker", func(h *wire.Host, _ *agentinstall.Agent) { h.Status = "insufficient" })
	c := in.Cluster
	c.Platform.Type, c.UserManagedNetworking, c.Progress.TotalPercentage, c.ConnectivityMajorityGroups = "baremetal", true, 42, "{}"
	c.APIVips, c.IngressVips = []wire.APIVip{{IP: "192.0.2.1"}, {IP: "2001:db8::1"}}, []wire.IngressVip{{IP: "192.0.2.2"}}
	c.MachineNetworks = []wire.MachineNetwork{{Cidr: "192.0.2.0/24"}}
	c.Hosts[0].LogsCollectedAt = wire.DateTime(now.Time)
	c.MonitoredOperators = []wire.MonitoredOperator{{Name: "cvo", Status: "progressing", StatusInfo: "Working"}}
	s, err := cluster.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, []int{3, 3, 2, 1}, []int{
		s.ControlPlaneAgentsDiscovered, s.ControlPlaneAgentsReady, s.WorkerAgentsDiscovered, s.WorkerAgentsReady,
	})
	require.Equal(t, "BareMetal true 42 {} 192.0.2.1 [192.0.2.1 2001:db8::1] 192.0.2.2 [192.0.2.2] [{192.0.2.0/24}]",
		fmt.Sprint(s.PlatformType, " ", *s.UserManagedNetworking, " ", s.Progress.TotalPercentage, " ", s.ConnectivityMajorityGroups, " ",
			s.APIVIP, " ", s.APIVIPs, " ", s.IngressVIP, " ", s.IngressVIPs, " ", s.MachineNetwork))
	require.Equal(t, agentinstall.DebugInfo{
		State: "ready", StateInfo: "why", EventsURL: "https://a/api/assisted-install/v2/events?cluster_id=" + c.ID.String(),
		LogsURL: "https://a/api/assisted-install/v2/clusters/" + c.ID.String() + "/logs",
	}, s.DebugInfo)
	c.InstallStartedAt = wire.DateTime(now.Time)
	s, err = cluster.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, "https://a/temporal/clusters/"+c.ID.String(), s.DebugInfo.WorkflowURL)
	in.Install.Status = s
	again, err := cluster.Status(in, "https://a", nil, metav1.NewTime(now.Add(time.Hour)))
	require.NoError(t, err)
	require.Equal(t, s, again, "nothing is written while nothing changes")
	c.Status = "finalizing"
	s, err = cluster.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, "False InstallationInProgress "+
		"The installation is in progress: why. Cluster version status: progressing, message: Working", verdict(s, "Completed"))
}

func TestApprovedHostsJoinAClusterThatExists(t *testing.T) {
	t.Parallel()
	joins := func(h *wire.Host, _ *agentinstall.Agent) { h.Kind = "AddToExistingClusterHost" }
	in := with(inputs("adding-hosts"), "worker", joins)
	in = with(in, "worker", joins, func(_ *wire.Host, a *agentinstall.Agent) { a.Spec.Approved = false })
	in = with(in, "worker", joins, func(h *wire.Host, _ *agentinstall.Agent) { h.Status = "installing" })
	in = with(in, "master")
	require.Equal(t, []wire.Host{in.Cluster.Hosts[0]}, cluster.Joining(in))
	require.Len(t, in.Cluster.Hosts, 4)
}

func TestManifestsAreWrittenWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	in := inputs("ready")
	in.Manifests = map[string]string{"a.yaml": "a", "b.yaml": "b"}
	write, remove := cluster.Manifests(in, map[string]string{"a.yaml": "a", "b.yaml": "older", "d.yaml": "d", "c.yaml": "c"})
	require.Equal(t, map[string]string{"b.yaml": "b"}, write)
	require.Equal(t, []string{"c.yaml", "d.yaml"}, remove)
}
