package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/agent"
	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var (
	now     = metav1.NewTime(time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC))
	cluster = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	other   = uuid.MustParse("22222222-2222-4222-8222-222222222222")
)

const inventory = `{"hostname":"one","bmc_address":"192.0.2.9","cpu":{"architecture":"x86_64","count":8,"frequency":2100.5,"flags":["vmx"]},` +
	`"memory":{"physical_bytes":34359738368,"usable_bytes":33000000000},"boot":{"current_boot_mode":"uefi"},` +
	`"system_vendor":{"manufacturer":"Dell Inc.","product_name":"PowerEdge (R640)","serial_number":"A1"},` +
	`"disks":[{"id":"/dev/disk/by-id/wwn-0x1","name":"sda","path":"/dev/sda","by_path":"/dev/disk/by-path/pci-0","drive_type":"HDD",` +
	`"size_bytes":137438953472,"installation_eligibility":{"eligible":true}}],` +
	`"interfaces":[{"name":"eth0","mac_address":"02:00:00:00:00:0a","ipv4_addresses":["192.0.2.10/24"]}],` +
	`"gpus":[{"address":"0000:00:01.0","vendor":"NVIDIA"}]}`

func inputs(status wire.HostStatus) agent.Inputs {
	return agent.Inputs{
		Resource: &agentinstall.Agent{}, SecretsKept: true,
		Host: &wire.Host{ID: uuid.New(), InfraEnvID: uuid.New(), Status: status, Role: "auto-assign", Inventory: inventory},
	}
}

func plan(t *testing.T, in agent.Inputs) agent.Calls {
	t.Helper()
	calls, err := agent.Plan(in)
	require.NoError(t, err)
	return calls
}

func TestHostsAreBoundByTheirAgents(t *testing.T) {
	t.Parallel()
	in := inputs("known-unbound")
	require.Zero(t, plan(t, in))
	in.ClusterID = cluster
	require.Equal(t, agent.Calls{Bind: cluster}, plan(t, in))
	in.Host.ClusterID, in.Host.Status = cluster, "binding"
	require.Zero(t, plan(t, in))
	in.ClusterID = other
	require.Equal(t, agent.Calls{Unbind: true}, plan(t, in), "it leaves the one before it joins the other")
	in.ClusterID = uuid.Nil
	require.Equal(t, agent.Calls{Unbind: true}, plan(t, in))
	for _, leaving := range []wire.HostStatus{"unbinding", "unbinding-pending-user-action", "reclaiming", "reclaiming-rebooting"} {
		in.Host.Status = leaving
		require.Zero(t, plan(t, in), leaving)
	}
}

func TestSettingsAreSentWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	type spec = agentinstall.AgentSpec
	for name, c := range map[string]struct {
		spec func(*spec)
		host func(*wire.Host) // as it is once the service has them
		want func(agent.Calls) any
		sent any
	}{
		"hostname": {
			func(s *spec) { s.Hostname = "a" }, func(h *wire.Host) { h.RequestedHostname = "a" },
			func(c agent.Calls) any { return *c.Update.HostName }, "a",
		},
		"role": {
			func(s *spec) { s.Role = "master" }, func(h *wire.Host) { h.Role = "master" },
			func(c agent.Calls) any { return string(*c.Update.HostRole) }, "master",
		},
		"pool": {
			func(s *spec) { s.MachineConfigPool = "infra" }, func(h *wire.Host) { h.MachineConfigPoolName = "infra" },
			func(c agent.Calls) any { return *c.Update.MachineConfigPoolName }, "infra",
		},
		"disk by id": {
			func(s *spec) { s.InstallationDiskID = "/dev/disk/by-id/wwn-0x1" },
			func(h *wire.Host) { h.InstallationDiskID = "/dev/disk/by-id/wwn-0x1" },
			func(c agent.Calls) any { return (*c.Update.DisksSelectedConfig)[0].ID }, "/dev/disk/by-id/wwn-0x1",
		},
		"disk by path": {
			func(s *spec) { s.InstallationDiskPath = "/dev/disk/by-path/pci-0" },
			func(h *wire.Host) { h.InstallationDiskID = "/dev/disk/by-id/wwn-0x1" },
			func(c agent.Calls) any { return (*c.Update.DisksSelectedConfig)[0].ID }, "/dev/disk/by-id/wwn-0x1",
		},
		"arguments": {
			func(s *spec) { s.InstallerArgs = `[ "--append-karg",  "a" ]` }, func(h *wire.Host) { h.InstallerArgs = `["--append-karg","a"]` },
			func(c agent.Calls) any { return *c.InstallerArgs },
			[]string{"--append-karg", "a"},
		},
		"Ignition": {
			func(s *spec) { s.IgnitionConfigOverrides = "{}" }, func(h *wire.Host) { h.IgnitionConfigOverrides = "{}" },
			func(c agent.Calls) any { return *c.Ignition }, "{}",
		},
		"labels": {
			func(s *spec) { s.NodeLabels = map[string]string{"b": "2", "a": "1"} }, func(h *wire.Host) { h.NodeLabels = `{"a":"1","b":"2"}` },
			func(c agent.Calls) any { return *c.Update.NodeLabels },
			[]wire.NodeLabelParams{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inputs("insufficient")
			c.spec(&in.Resource.Spec)
			require.Equal(t, c.sent, c.want(plan(t, in)))
			in.Host.Status = "installing"
			require.Zero(t, plan(t, in), "a host that is being installed keeps its settings")
			in.Host.Status = "insufficient"
			c.host(in.Host)
			require.Zero(t, plan(t, in), "nothing differs")
		})
	}
}

func TestTextsOfUsersAreRemoved(t *testing.T) {
	t.Parallel()
	in := inputs("known")
	in.Host.InstallerArgs, in.Host.IgnitionConfigOverrides, in.Host.NodeLabels = `["a"]`, "{}", `{"a":"1"}`
	in.Host.RequestedHostname, in.Host.MachineConfigPoolName, in.Host.InstallationDiskID = "a", "infra", "/dev/sda"
	calls := plan(t, in)
	require.Equal(t, []string{}, *calls.InstallerArgs)
	require.Empty(t, *calls.Ignition)
	require.Equal(t, &wire.HostUpdateParams{NodeLabels: &[]wire.NodeLabelParams{}}, calls.Update)
}

func TestHiddenSettingsAreSentUntilTheServiceHasTakenThem(t *testing.T) {
	t.Parallel()
	in := inputs("known")
	in.SecretsKept = false
	require.Zero(t, plan(t, in), "neither has any")
	in.Resource.Spec.IgnitionEndpointHTTPHeaders = map[string]string{"B": "2", "A": "1"}
	in.Token, in.Fencing = "abc", &wire.FencingCredentialsParams{Address: "https://192.0.2.9", Username: "a", Password: "b"}
	require.Equal(t, &wire.HostUpdateParams{
		IgnitionEndpointToken: new("abc"), FencingCredentials: in.Fencing,
		IgnitionEndpointHTTPHeaders: &[]wire.IgnitionEndpointHTTPHeadersParams{{Key: "A", Value: "1"}, {Key: "B", Value: "2"}},
	}, plan(t, in).Update)
	in.SecretsKept = true
	require.Zero(t, plan(t, in))

	gone := inputs("known")
	gone.SecretsKept, gone.Host.IgnitionEndpointTokenSet, gone.Host.FencingCredentials = false, true, "{}"
	require.Equal(t, &wire.HostUpdateParams{
		IgnitionEndpointToken: new(""), FencingCredentials: &wire.FencingCredentialsParams{},
	}, plan(t, gone).Update)
}

func TestWrongSettingsAreTheUsers(t *testing.T) {
	t.Parallel()
	in := inputs("known")
	in.Resource.Spec.InstallerArgs = "--append-karg"
	_, err := agent.Plan(in)
	require.True(t, resource.IsInput(err))
	require.ErrorContains(t, err, "spec.installerArgs: require a list of texts in JSON")
	in.Resource.Spec.InstallerArgs, in.Resource.Spec.InstallationDiskPath = "", "/dev/sdb"
	_, err = agent.Plan(in)
	require.True(t, resource.IsInput(err))
	require.EqualError(t, err, `spec.installation_disk_path: require a path of a disk in the inventory, found "/dev/sdb"`)
}

// Each status of a host, with the conditions that the existing service gives it (openshift/assisted-service,
// internal/controller/controllers/agent_controller.go); preparing-failed, cancelled and resetting do not occur there.
func TestConditionsOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[wire.HostStatus]string{
		"discovering":                    "T:AgentIsConnected F:AgentNotReady T:ValidationsPassing F:InstallationNotStarted T:Bound",
		"discovering-unbound":            "T:AgentIsConnected F:AgentNotReady T:ValidationsPassing F:InstallationNotStarted F:Unbound",
		"disconnected":                   "F:AgentIsDisconnected F:AgentNotReady T:ValidationsPassing F:InstallationNotStarted T:Bound",
		"disconnected-unbound":           "F:AgentIsDisconnected F:AgentNotReady T:ValidationsPassing F:InstallationNotStarted F:Unbound",
		"insufficient":                   "T:AgentIsConnected F:AgentNotReady F:ValidationsFailing F:InstallationNotStarted T:Bound",
		"insufficient-unbound":           "T:AgentIsConnected F:AgentNotReady F:ValidationsFailing F:InstallationNotStarted F:Unbound",
		"pending-for-input":              "T:AgentIsConnected F:AgentNotReady F:ValidationsUserPending F:InstallationNotStarted T:Bound",
		"known":                          "T:AgentIsConnected F:AgentIsNotApproved T:ValidationsPassing F:InstallationNotStarted T:Bound",
		"known-unbound":                  "T:AgentIsConnected F:AgentIsNotApproved T:ValidationsPassing F:InstallationNotStarted F:Unbound",
		"preparing-for-installation":     "T:AgentIsConnected T:AgentAlreadyInstalling T:ValidationsPassing F:InstallationInProgress T:Bound",
		"preparing-successful":           "T:AgentIsConnected T:AgentAlreadyInstalling T:ValidationsPassing F:InstallationInProgress T:Bound",
		"preparing-failed":               "T:AgentIsConnected F:AgentNotReady T:ValidationsPassing F:InstallationNotStarted T:Bound",
		"installing":                     "T:AgentIsConnected T:AgentAlreadyInstalling T:ValidationsPassing F:InstallationInProgress T:Bound",
		"installing-in-progress":         "T:AgentIsConnected T:AgentAlreadyInstalling T:ValidationsPassing F:InstallationInProgress T:Bound",
		"installing-pending-user-action": "T:AgentIsConnected T:AgentAlreadyInstalling T:ValidationsPassing F:InstallationInProgress T:Bound",
		"installed":                      "T:AgentIsConnected T:AgentInstallationStopped T:ValidationsPassing T:InstallationCompleted T:Bound",
		"added-to-existing-cluster":      "T:AgentIsConnected T:AgentInstallationStopped T:ValidationsPassing T:InstallationCompleted T:Bound",
		"error":                          "T:AgentIsConnected T:AgentInstallationStopped T:ValidationsPassing F:InstallationFailed T:Bound",
		"binding":                        "T:AgentIsConnected F:Binding F:Binding F:Binding F:Binding",
		"unbinding":                      "T:AgentIsConnected F:Unbinding F:Unbinding F:Unbinding F:Unbinding",
		"unbinding-pending-user-action":  "T:AgentIsConnected F:Unbinding F:Unbinding F:Unbinding F:UnbindingPendingUserAction",
		"reclaiming":                     "T:AgentIsConnected F:Unbinding F:Unbinding F:Unbinding F:Unbinding",
		"reclaiming-rebooting":           "T:AgentIsConnected F:Unbinding F:Unbinding F:Unbinding F:Unbinding",
		"cancelled":                      "T:AgentIsConnected U:UnknownStatus T:ValidationsPassing U:UnknownStatus T:Bound",
		"resetting":                      "T:AgentIsConnected U:UnknownStatus T:ValidationsPassing U:UnknownStatus T:Bound",
		"resetting-pending-user-action":  "T:AgentIsConnected U:UnknownStatus T:ValidationsPassing U:UnknownStatus T:Bound",
	} {
		in := inputs(status)
		in.Host.ValidationsInfo = `{"hardware":[{"id":"a","status":"failure","message":"A"},{"id":"b","status":"success","message":"B"}],` +
			`"network":[{"id":"c","status":"pending","message":"C"},{"id":"d","status":"disabled","message":"D"}]}`
		s, err := agent.Status(in, "https://a", nil, now)
		require.NoError(t, err)
		var got []string
		for _, c := range s.Conditions[:5] {
			got = append(got, string(c.Status[:1])+":"+c.Reason)
			if strings.HasPrefix(c.Reason, "ValidationsFailing") || strings.HasPrefix(c.Reason, "ValidationsUserPending") {
				require.True(t, strings.HasSuffix(c.Message, ": A,C"), c.Message)
			}
		}
		require.Equal(t, want, strings.Join(got, " "), status)
	}
}

func TestStatusSaysWhatTheHostIs(t *testing.T) {
	t.Parallel()
	in := inputs("installed")
	h := in.Host
	h.Bootstrap, h.SuggestedRole, h.Kind, h.InstallationDiskID, h.StatusInfo = true, "master", "Host", "/dev/sda", "Done"
	h.NtpSources, h.ClusterID = `[{"source_name":"ntp.example.com","source_state":"synced"}]`, cluster
	h.LogsCollectedAt, h.ProgressStages = wire.DateTime(now.Time), []wire.HostStage{"Rebooting", "Done"}
	h.Progress = wire.HostProgressInfo{CurrentStage: "Done", InstallationPercentage: 100, StageStartedAt: wire.DateTime(now.Time)}
	s, err := agent.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	require.Equal(t, "master true Host /dev/sda", fmt.Sprint(s.Role, " ", s.Bootstrap, " ", s.Kind, " ", s.InstallationDiskID))
	require.Equal(t, []agentinstall.HostNTPSource{{SourceName: "ntp.example.com", SourceState: "synced"}}, s.NtpSources)
	require.Equal(t, "Done 100 [Rebooting Done]",
		fmt.Sprint(s.Progress.CurrentStage, " ", s.Progress.InstallationPercentage, " ", s.Progress.ProgressStages))
	require.Equal(t, agentinstall.DebugInfo{
		State: "installed", StateInfo: "Done",
		EventsURL: "https://a/api/assisted-install/v2/events?host_id=" + h.ID.String() + "&infra_env_id=" + h.InfraEnvID.String(),
		LogsURL:   "https://a/api/assisted-install/v2/clusters/" + cluster.String() + "/logs?host_id=" + h.ID.String() + "&logs_type=host",

		WorkflowURL: "https://a/temporal/infra-envs/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String(),
	}, s.DebugInfo)
	i := s.Inventory
	require.Equal(t, "one 192.0.2.9 8 2100 34359738368 uefi Dell Inc.",
		fmt.Sprint(i.Hostname, " ", i.BmcAddress, " ", i.Cpu.Count, " ", i.Cpu.ClockMegahertz, " ", i.Memory.PhysicalBytes, " ",
			i.Boot.CurrentBootMode, " ", i.SystemVendor.Manufacturer))
	require.Equal(t, []string{}, i.Interfaces[0].IPV6Addresses, "the schema requires a list")
	require.Equal(t, []string{}, i.Disks[0].InstallationEligibility.NotEligibleReasons)
	require.True(t, i.Disks[0].InstallationEligibility.Eligible)
	require.Equal(t, "NVIDIA", i.GPUs[0].Vendor)

	in.Resource.Status = s
	again, err := agent.Status(in, "https://a", nil, metav1.NewTime(now.Add(time.Hour)))
	require.NoError(t, err)
	require.Equal(t, s, again, "nothing is written while nothing changes")
	require.Equal(t, s, agent.Unavailable(in.Resource, now), "the status of an installed host is kept")
	h.Status = "known"
	in.Resource.Status, err = agent.Status(in, "https://a", nil, now)
	require.NoError(t, err)
	gone := agent.Unavailable(in.Resource, now)
	require.Empty(t, gone.DebugInfo.State)
	for _, c := range gone.Conditions[:5] {
		require.Equal(t, "Unknown NotAvailable Information not available", string(c.Status)+" "+c.Reason+" "+c.Message)
	}
}

func TestErrorsAreTheUsersOrTheServices(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		err     error
		message string
	}{
		"SyncOK":       {nil, "The Spec has been successfully applied"},
		"InputError":   {model.Conflictf("no"), "The Spec could not be synced due to an input error: no"},
		"BackendError": {errors.New("no answer"), "The Spec could not be synced due to backend error: no answer"},
	} {
		s, err := agent.Status(inputs("known"), "https://a", c.err, now)
		require.NoError(t, err)
		last := s.Conditions[5]
		require.Equal(t, "SpecSynced "+reason+" "+c.message, string(last.Type)+" "+last.Reason+" "+last.Message)
	}
}

func TestLabelsSelectHardware(t *testing.T) {
	t.Parallel()
	in := inputs("known")
	in.Resource.Spec.ClusterDeploymentName = &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	labels, err := agent.Labels(in)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"inventory.agent-install.openshift.io/storage-hasnonrotationaldisk": "false",
		"inventory.agent-install.openshift.io/cpu-architecture":             "x86_64",
		"inventory.agent-install.openshift.io/cpu-virtenabled":              "true",
		// "Dell Inc." ends with a point, which a label cannot.
		"inventory.agent-install.openshift.io/host-productname":  "PowerEdgeR640",
		"inventory.agent-install.openshift.io/host-isvirtual":    "false",
		"agent-install.openshift.io/clusterdeployment-namespace": "one",
	}, labels)
	in.Host.Inventory = ""
	labels, err = agent.Labels(in)
	require.NoError(t, err)
	require.Empty(t, labels)
}

func TestAnnotationsFitAnObject(t *testing.T) {
	t.Parallel()
	h := inputs("known").Host
	h.ValidationsInfo = "{}"
	require.Len(t, agent.Annotations(h), 6)
	h.Inventory = strings.Repeat("a", 250_000)
	require.NotContains(t, agent.Annotations(h), "agent.agent-install.openshift.io/inventory")
	require.Contains(t, agent.Annotations(h), "agent.agent-install.openshift.io/validations-info")
}

func TestNodeOfAHostThatLeavesItsClusterIsNoted(t *testing.T) {
	t.Parallel()
	lab := types.NamespacedName{Namespace: "one", Name: "lab"}
	node := &agentinstall.AgentDeprovisionInfo{ClusterNamespace: "one", ClusterName: "lab", NodeName: "rack-1"}
	for _, c := range []struct {
		status, kind string
		spec         *agentinstall.ClusterReference
		skip         bool
		want         *agentinstall.AgentDeprovisionInfo
	}{
		{status: "installed", kind: "Host", want: node},
		{status: "added-to-existing-cluster", kind: "AddToExistingClusterHost", want: node},
		{status: "added-to-existing-cluster", spec: &agentinstall.ClusterReference{Namespace: "one", Name: "other"}, want: node},
		{status: "added-to-existing-cluster", spec: &agentinstall.ClusterReference{Namespace: "two", Name: "lab"}, want: node},
		{status: "error", kind: "AddToExistingClusterHost", want: node},
		{status: "error", kind: "Host"}, // its cluster failed with it
		{status: "installed", spec: &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}},
		{status: "installed", skip: true},
		{status: "known"},
		{status: "installing-in-progress"},
		{status: "unbinding-pending-user-action"},
	} {
		a := &agentinstall.Agent{}
		a.Spec.ClusterDeploymentName, a.Spec.Hostname = c.spec, "rack-2" // for its next installation
		if c.skip {
			a.Annotations = map[string]string{"agent.agent-install.openshift.io/skip-spoke-cleanup": "true"}
		}
		require.Equal(t, c.want, agent.Leaves(a, &wire.Host{
			Status: wire.HostStatus(c.status), Kind: wire.HostKind(c.kind), RequestedHostname: "Rack-1",
		}, lab), "%+v", c)
	}
}

func TestStatusForgetsAFormerNode(t *testing.T) {
	t.Parallel()
	in := inputs("known")
	in.ClusterID, in.Host.ClusterID = cluster, cluster
	in.Resource.Spec.ClusterDeploymentName = &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	status := func() agentinstall.AgentStatus {
		in.Resource.Status.DeprovisionInfo = &agentinstall.AgentDeprovisionInfo{ClusterNamespace: "one", ClusterName: "lab", NodeName: "a"}
		in.Resource.Status.CSRStatus.ApprovedCSRs = []agentinstall.CSRInfo{{Name: "a", Type: "serving"}}
		in.Resource.Status.Conditions = []agentinstall.Condition{{Type: "Cleanup", Status: "False", Reason: "CleanupFailed"}}
		s, err := agent.Status(in, "https://a", nil, now)
		require.NoError(t, err)
		return s
	}
	s := status() // the host is to be that node again
	require.Nil(t, s.DeprovisionInfo)
	require.False(t, s.Has("Cleanup", "False"))
	require.Empty(t, s.CSRStatus.ApprovedCSRs, "they were of a system that does not run any more")
	in.Host.Progress.CurrentStage = "Joined"
	require.Len(t, status().CSRStatus.ApprovedCSRs, 1)

	in.Resource.Spec.ClusterDeploymentName.Name = "other"
	s = status()
	require.NotNil(t, s.DeprovisionInfo)
	require.True(t, s.Has("Cleanup", "False"))
	in.Resource.Spec.ClusterDeploymentName, in.ClusterID, in.Host.ClusterID = nil, uuid.Nil, uuid.Nil
	require.NotNil(t, status().DeprovisionInfo)
}
