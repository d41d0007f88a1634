package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
	"slipway/internal/wire"
)

func TestSettingsOfAHostComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	require.Equal(t, "master-0", h.RequestedHostname)
	require.Equal(t, "wwn-0x1", h.DisksToBeFormatted)
	var got wire.Host
	s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), map[string]any{
		"host_name": "node-1.example.com", "host_role": "master", "machine_config_pool_name": "infra",
		"node_labels": []any{map[string]any{"key": "example.com/rack", "value": "r1"}},
		"disks_selected_config": []any{
			map[string]any{"id": "wwn-0x1", "role": "none"},
			map[string]any{"id": "/dev/sdb", "role": "install"},
		},
		"disks_skip_formatting": []any{map[string]any{"disk_id": "wwn-0x1", "skip_formatting": true}},
	}).JSON(&got)
	require.Equal(t, "node-1.example.com", got.RequestedHostname)
	require.Equal(t, wire.HostRole("master"), got.Role)
	require.Equal(t, "infra", got.MachineConfigPoolName)
	require.JSONEq(t, `{"example.com/rack":"r1"}`, got.NodeLabels)
	require.Equal(t, "wwn-0x2", got.InstallationDiskID)
	require.Equal(t, "/dev/sdb", got.InstallationDiskPath)
	require.Equal(t, "wwn-0x1", got.SkipFormattingDisks)
	require.Empty(t, got.DisksToBeFormatted)
	require.Len(t, got.ProgressStages, len(steps.StagesFor(model.RoleMaster, false, false)))
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		hostPath(e.ID, h.ID),
		`{"disks_skip_formatting":[{"disk_id":"wwn-0x1","skip_formatting":false}]}`,
	)
	got = s.readHost(e.ID, h.ID)
	require.Empty(t, got.SkipFormattingDisks)
	require.Equal(t, "node-1.example.com", got.RequestedHostname, "absent fields change nothing")
}

func TestSettingsOfAHostThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Inventory.Disks[1].InstallationEligibility.Eligible = false
		h.Inventory.Disks[1].InstallationEligibility.NotEligibleReasons = []string{"Disk is too small"}
	})
	for name, call := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"a name every machine has":   {"", `{"host_name":"localhost"}`, 400, "localhost"},
		"a name that is invalid":     {"", `{"host_name":"Node_1"}`, 400, "host_name"},
		"a disk of another host":     {"", `{"disks_selected_config":[{"id":"wwn-9","role":"install"}]}`, 409, "wwn-9"},
		"a disk that cannot be used": {"", `{"disks_selected_config":[{"id":"wwn-0x2","role":"install"}]}`, 409, "Disk is too small"},
		"two disks": {
			"", `{"disks_selected_config":[{"id":"wwn-0x1","role":"install"},{"id":"sdb","role":"install"}]}`, 400, "found 2",
		},
		"keeping a missing disk":  {"", `{"disks_skip_formatting":[{"disk_id":"wwn-9","skip_formatting":true}]}`, 400, "wwn-9"},
		"a label that is invalid": {"", `{"node_labels":[{"key":"a b","value":"c"}]}`, 400, `"a b"`},
		"a value that is invalid": {"", `{"node_labels":[{"key":"a","value":"b c"}]}`, 400, `"b c"`},
		"a pool that is invalid":  {"", `{"machine_config_pool_name":"A b"}`, 400, "machine_config_pool_name"},
		"fencing without an address": {
			"", `{"fencing_credentials":{"address":"a","username":"b","password":"hunter2"}}`, 400, "fencing_credentials.address",
		},
		"fencing over another way": {
			"", `{"fencing_credentials":{"address":"ipmi://192.0.2.1","username":"b","password":"hunter2"}}`, 400,
			"fencing_credentials.address",
		},
		"fencing with two users": {
			"", `{"fencing_credentials":{"address":"https://root:hunter2@192.0.2.1","username":"b","password":"hunter2"}}`, 400,
			"must not contain user info",
		},
		"fencing without a user": {
			"", `{"fencing_credentials":{"address":"https://192.0.2.1","username":"","password":"hunter2"}}`, 400,
			"fencing_credentials.username",
		},
		"fencing without a password": {
			"", `{"fencing_credentials":{"address":"https://192.0.2.1","username":"b","password":""}}`, 400, "fencing_credentials.password",
		},
		"fencing over an address with a blank": {
			"", `{"fencing_credentials":{"address":"https://192.0.2.1/redfish/v1/ Systems/1","username":"b","password":"hunter2"}}`, 400,
			"fencing_credentials.address",
		},
		"an argument with a line break": {"/installer-args", `{"args":["--append-karg","nosmt\n"]}`, 400, "without line breaks"},
		"an argument in one word with a line break": {
			"/installer-args", `{"args":["--append-karg=nosmt\r\nquiet"]}`, 400, "without line breaks",
		},
		"a label with a blank after it": {"/installer-args", `{"args":["--save-partlabel","data "]}`, 400, "blanks at its ends"},
		"fencing with half of it":       {"", `{"fencing_credentials":{"address":"https://192.0.2.1"}}`, 400, "username"},
		"fencing unchecked somehow": {
			"", `{"fencing_credentials":{"address":"https://192.0.2.1","username":"b","password":"c","certificate_verification":"No"}}`,
			400, "certificate_verification",
		},
		"a token of two lines": {"", `{"ignition_endpoint_token":"a\nb"}`, 400, "ignition_endpoint_token"},
		"a header that is invalid": {
			"", `{"ignition_endpoint_http_headers":[{"key":"a b","value":"c"}]}`, 400, "ignition_endpoint_http_headers[0].key",
		},
		"a header of two lines": {
			"", `{"ignition_endpoint_http_headers":[{"key":"a","value":"b\nc"}]}`, 400, "ignition_endpoint_http_headers[0].value",
		},
		"a header twice": {
			"", `{"ignition_endpoint_http_headers":[{"key":"x-a","value":"b"},{"key":"X-A","value":"b"}]}`, 400, "X-A again",
		},
		"another role":                {"", `{"host_role":"bootstrap"}`, 400, "host_role"},
		"an argument of another tool": {"/installer-args", `{"args":["--ignition-url","http://x"]}`, 400, "--ignition-url"},
		"a disk as an argument":       {"/installer-args", `{"args":["/dev/sdb"]}`, 400, "/dev/sdb"},
		"no signature of no image": {
			"/installer-args", `{"args":["--insecure"]}`, 400, "require --image-url or --image-file with --insecure, found neither",
		},
		"an argument without a value": {"/installer-args", `{"args":["--append-karg"]}`, 400, "--append-karg"},
		"an Ignition config of air":   {"/ignition", `{"config":"{}"}`, 400, "gnition"},
	} {
		reason := s.send(http.MethodPatch, hostPath(e.ID, h.ID)+call.path, call.body).Reason(call.status)
		require.Contains(t, reason, call.want, name)
		require.NotContains(t, reason, "hunter2", name)
	}
}

func TestRangeOfKeptPartitionsMayBeginWithItsSign(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	path := hostPath(e.ID, s.host(e.ID).ID) + "/installer-args"
	for body, status := range map[string]int{
		`{"args":["--save-partindex","-4"]}`:           http.StatusCreated,
		`{"args":["--save-partindex=-4"]}`:             http.StatusCreated,
		`{"args":["--save-partindex","5-,7"]}`:         http.StatusCreated,
		`{"args":["--save-partindex","-n"]}`:           http.StatusBadRequest,
		`{"args":["--save-partindex","--platform=x"]}`: http.StatusBadRequest,
		`{"args":["--save-partlabel","-4"]}`:           http.StatusBadRequest,
		`{"args":["--config-file","/etc/installer"]}`:  http.StatusBadRequest,
	} {
		s.want(status, http.MethodPatch, path, body)
	}
}

func TestLabelsThatNoKubeletSetsAreRefusedForHostsOfLaterDays(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	first, later := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, later.ID, func(h *model.Host) { h.Kind = model.KindAddToExistingClusterHost })
	for key, status := range map[string]int{
		"site": http.StatusCreated, "node.kubernetes.io/pool": http.StatusCreated, "node-role.kubernetes.io/infra": http.StatusBadRequest,
		"kubernetes.io/tier": http.StatusBadRequest, "node-restriction.kubernetes.io/x": http.StatusBadRequest,
	} {
		body := map[string]any{"node_labels": []any{map[string]any{"key": key, "value": "a"}}}
		s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, first.ID), body)
		s.want(status, http.MethodPatch, hostPath(e.ID, later.ID), body)
	}
}

// The agent of openshift/assisted-installer-agent refuses the step install with other arguments.
func TestArgumentsThatTheAgentOfAHostRefusesAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	foreign, own := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, own.ID, func(h *model.Host) { h.AgentSteps = model.FineSteps })
	for args, accepted := range map[string]bool{
		`["--append-karg=ip=eth0:dhcp","-n","--delete-karg=quiet"]`:        true,
		`["--save-partlabel=data*","--save-partindex=-4,6-"]`:              true,
		`["--image-url","https://mirror.example.com/rhcos.raw.gz"]`:        true,
		`["--insecure","--image-file=/a.raw.gz"]`:                          false,
		`["--preserve-on-error"]`:                                          false,
		`["--console=ttyS0,115200n8"]`:                                     false,
		`["--platform","metal"]`:                                           false,
		`["--append-karg","nosmt quiet"]`:                                  false,
		`["--image-url","https://mirror.example.com/rhcos?arch=x86_64&a"]`: false,
	} {
		s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, own.ID)+"/installer-args", `{"args":`+args+`}`)
		status := http.StatusBadRequest
		if accepted {
			status = http.StatusCreated
		}
		s.want(status, http.MethodPatch, hostPath(e.ID, foreign.ID)+"/installer-args", `{"args":`+args+`}`)
	}
}

func TestHostInAnInstallationIsNotChangedOrRemoved(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostInstallingInProgress })
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	path := hostPath(e.ID, h.ID)
	require.Contains(t, s.send(http.MethodPatch, path, `{"host_role":"worker"}`).Reason(http.StatusConflict), "installing-in-progress")
	require.Contains(
		t,
		s.send(http.MethodPatch, path+"/installer-args", `{"args":[]}`).Reason(http.StatusConflict),
		"installing-in-progress",
	)
	require.Contains(t, s.send(http.MethodPatch, path+"/ignition", `{"config":""}`).Reason(http.StatusConflict), "installing-in-progress")
	require.Contains(t, s.send(http.MethodDelete, path, nil).Reason(http.StatusConflict), "installing")
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostKnown })
	require.Contains(t, s.send(http.MethodDelete, path, nil).Reason(http.StatusConflict), "cluster prod is installing")
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterCancelled })
	s.want(http.StatusNoContent, http.MethodDelete, path, nil)
	s.send(http.MethodGet, path, nil).Reason(http.StatusNotFound)
}

func TestFailedHostIsRetriedThroughTheOrchestrator(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	got := s.want(http.StatusOK, http.MethodPost, hostPath(e.ID, h.ID)+"/actions/reset", nil).Object()
	require.Equal(t, h.ID.String(), got["id"])
	require.Equal(t, []string{"reset host " + h.ID.String()}, s.orchestrator.commands)
	s.orchestrator.err = model.Conflictf("host master-0 cannot be retried: require status error, found known")
	s.send(http.MethodPost, hostPath(e.ID, h.ID)+"/actions/reset", nil).Reason(http.StatusConflict)
}

func TestUnboundHostJoinsAClusterAndLeavesIt(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	require.Equal(t, wire.HostStatus("discovering-unbound"), h.Status)
	require.Equal(t, uuid.Nil, h.ClusterID)
	bind := map[string]any{"cluster_id": c.ID}
	path := hostPath(e.ID, h.ID) + "/actions/"
	require.Contains(t, s.send(http.MethodPost, path+"bind", bind).Reason(http.StatusConflict), "discovering-unbound")
	require.Contains(t, s.send(http.MethodPost, path+"unbind", nil).Reason(http.StatusConflict), "host of a cluster")
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostKnownUnbound })
	s.send(http.MethodPost, path+"bind", map[string]any{"cluster_id": uuid.New()}).Reason(http.StatusNotFound)

	got := s.want(http.StatusOK, http.MethodPost, path+"bind", bind).Object()
	require.Equal(t, "binding", got["status"])
	require.Equal(t, c.ID.String(), got["cluster_id"])
	require.Contains(t, s.send(http.MethodPost, path+"bind", bind).Reason(http.StatusConflict), "without a cluster")
	steps := s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID)+"/instructions", nil).Object()
	require.Equal(t, "exit", steps["post_step_action"], "the agent registers again, for its cluster")
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+e.ID.String()+"/hosts", map[string]any{"host_id": h.ID})
	require.Equal(t, wire.HostStatus("discovering"), s.readHost(e.ID, h.ID).Status)
	require.Len(t, s.readCluster(c.ID).Hosts, 1)

	got = s.want(http.StatusOK, http.MethodPost, path+"unbind", nil).Object()
	require.Equal(t, "unbinding", got["status"])
	require.NotContains(t, got, "cluster_id")
	require.Empty(t, s.readCluster(c.ID).Hosts)
	names := map[any]bool{}
	for _, event := range s.want(http.StatusOK, http.MethodGet, "/v2/events?host_id="+h.ID.String(), nil).List() {
		names[event["name"]] = true
	}
	require.True(t, names["host_bind_succeeded"] && names["host_unbind_succeeded"], "events: %v", names)
}

// A host that was bound while its cluster was opened for more hosts counted as a host of the installation, and was never installed.
func TestHostIsBoundToTheClusterAsItIsThen(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostKnownUnbound })
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	bound := make(chan map[string]any, 1)
	s.changeCluster(c.ID, func(c *model.Cluster) {
		go func() {
			path := hostPath(e.ID, h.ID) + "/actions/bind"
			bound <- s.want(http.StatusOK, http.MethodPost, path, map[string]any{"cluster_id": c.ID}).Object()
		}()
		await.True(t, func() bool {
			return postgrestest.Number(t, s.database,
				"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
		}, "the request does not wait for the cluster")
		c.Status, c.Kind = model.ClusterAddingHosts, model.KindAddHostsCluster
	})
	got := await.Receive(t, bound, "the host is not bound")
	require.Equal(t, []any{"AddToExistingClusterHost", "worker"}, []any{got["kind"], got["role"]})
}

func TestHostsOfABoundEnvironmentStayInItsCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	require.Equal(t, c.ID, h.ClusterID)
	path := hostPath(e.ID, h.ID) + "/actions/"
	require.Contains(t, s.send(http.MethodPost, path+"unbind", nil).Reason(http.StatusConflict), c.ID.String())
	require.Contains(t, s.send(http.MethodPost, path+"bind", map[string]any{"cluster_id": c.ID}).Reason(http.StatusConflict), c.ID.String())
}

func TestHostOfAnotherArchitectureIsNotBound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status, h.Inventory.CPU.Architecture = model.HostKnownUnbound, "aarch64" })
	got := s.send(http.MethodPost, hostPath(e.ID, h.ID)+"/actions/bind", map[string]any{"cluster_id": c.ID}).Reason(http.StatusBadRequest)
	require.Contains(t, got, "x86_64")
	require.Contains(t, got, "aarch64")
}

func TestListsOfHostsAreFilteredAndInventoriesOnRequest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	path := clusterPath(c.ID) + "/hosts"
	require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	first, second := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, first.ID, func(h *model.Host) {
		h.Role, h.Connectivity = model.RoleMaster, model.PackConnectivity(wire.ConnectivityReport{})
	})
	s.changeHost(e.ID, second.ID, func(h *model.Host) { h.Role, h.Status = model.RoleWorker, model.HostInsufficient })
	list := s.want(http.StatusOK, http.MethodGet, path, nil).List()
	require.Len(t, list, 2)
	require.Equal(t, first.ID.String(), list[0]["id"], "in the order of registration")
	require.Empty(t, list[0]["inventory"])
	require.Len(t, s.want(http.StatusOK, http.MethodGet, path+"?role=master", nil).List(), 1)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, path+"?status=insufficient", nil).List(), 1)
	list = s.want(http.StatusOK, http.MethodGet, path+"?with-inventory=true&with-connectivity=true", nil).List()
	requireJSONText(t, list[0], "inventory")
	requireJSONText(t, list[0], "connectivity")
	list = s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/hosts", nil).List()
	require.Len(t, list, 2)
	requireJSONText(t, list[0], "inventory")
	s.send(http.MethodGet, clusterPath(uuid.New())+"/hosts", nil).Reason(http.StatusNotFound)
	s.send(http.MethodGet, "/v2/infra-envs/"+uuid.NewString()+"/hosts", nil).Reason(http.StatusNotFound)
}

func TestBootstrapHostOfASingleNodeHasItsOwnStages(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"control_plane_count": 1})
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Role, h.Bootstrap = model.RoleMaster, true })
	want := len(steps.StagesFor(model.RoleMaster, true, true))
	require.Len(t, s.readHost(e.ID, h.ID).ProgressStages, want)
	require.Len(t, s.readCluster(c.ID).Hosts[0].ProgressStages, want)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/hosts", nil).List()[0]["progress_stages"], want)
}
