package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// The wire rules of docs/reference/wire.md, "Rules for all clients", one test each.

func TestDoubledAndTrailingSlashesAreServedWithoutARedirect(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	for _, path := range []string{
		"/v2/clusters/", "/v2/clusters//default-config", "//v2//clusters", "/v2/infra-envs/?cluster_id=" + c.ID.String(),
		clusterPath(c.ID) + "/", clusterPath(c.ID) + "//manifests///",
	} {
		s.want(http.StatusOK, http.MethodGet, path, nil)
	}
	body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret}
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/", body)
	s.want(http.StatusCreated, http.MethodPost, "//v2/infra-envs//", map[string]any{"name": "x", "pull_secret": pullSecret})
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters?owner=&with_hosts=&openshift_cluster_id=", nil)
}

func TestSuccessCodesAreExact(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	cluster, env, host := clusterPath(c.ID), "/v2/infra-envs/"+e.ID.String(), hostPath(e.ID, h.ID)
	manifest := map[string]any{"folder": "manifests", "file_name": "a.yaml", "content": "YTogMQo="}
	for _, call := range []struct {
		status       int
		method, path string
		body         any
	}{
		{201, "PATCH", cluster, `{"tags":"x"}`},
		{201, "PATCH", env, `{"additional_ntp_sources":"192.0.2.9"}`},
		{201, "PATCH", host, `{"host_name":"master-9"}`},
		{201, "PATCH", host + "/installer-args", `{"args":["--append-karg","x=y"]}`},
		{201, "PATCH", host + "/ignition", `{"config":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`},
		{201, "PATCH", cluster + "/install-config", `"{\"fips\":true}"`},
		{201, "POST", cluster + "/manifests", manifest},
		{200, "PATCH", cluster + "/manifests", `{"folder":"manifests","file_name":"a.yaml","updated_content":"YTogMgo="}`},
		{200, "DELETE", cluster + "/manifests?file_name=a.yaml", nil},
		{202, "POST", cluster + "/actions/install", nil},
		{202, "POST", cluster + "/actions/cancel", nil},
		{202, "POST", cluster + "/actions/reset", nil},
		{200, "POST", host + "/actions/reset", nil},
		{204, "POST", host + "/instructions", `{"step_type":"ntp-synchronizer","step_id":"x","exit_code":0,"output":"{}"}`},
		{204, "PUT", host + "/logs-progress", `{"logs_state":"collecting"}`},
		{204, "PUT", cluster + "/logs-progress", `{"logs_state":"requested"}`},
		{200, "PUT", cluster + "/monitored-operators", `{"name":"console","status":"available"}`},
		{200, "PUT", cluster + "/progress", `{"finalizing_stage":"Waiting for cluster operators"}`},
		{
			201, "POST", "/v2/events",
			map[string]any{"cluster_id": c.ID, "severity": "info", "message": "m", "event_time": "2026-11-20T16:28:32Z", "name": "n"},
		},
		{204, "DELETE", host, nil},
		{204, "DELETE", env, nil},
		{204, "DELETE", cluster, nil},
	} {
		s.want(call.status, call.method, call.path, call.body)
	}
}

func TestBodilessPostTakesAnyContentType(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	for _, kind := range []string{"", "application/json", "application/x-www-form-urlencoded", "text/plain"} {
		headers := []string{"Content-Type", kind}
		if kind == "" {
			headers = nil
		}
		s.want(http.StatusAccepted, http.MethodPost, clusterPath(c.ID)+"/actions/install", nil, headers...)
	}
}

func TestErrorBodiesHaveTheShapesClientsRead(t *testing.T) {
	t.Parallel()
	s := newService(t)
	got := s.want(http.StatusNotFound, http.MethodGet, clusterPath(uuid.New()), nil).Object()
	require.Equal(t, "404", got["code"])
	require.EqualValues(t, 404, got["id"])
	require.Equal(t, "Error", got["kind"])
	require.Contains(t, got, "href")
	require.NotEmpty(t, got["reason"])
}

func TestTimesThatAreNotYetAreZeroAndNeverNull(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	zero := "0001-01-01T00:00:00.000Z"
	cluster := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).Object()
	for _, field := range []string{
		"install_started_at", "install_completed_at", "controller_logs_collected_at", "controller_logs_started_at",
	} {
		require.Equal(t, zero, cluster[field], field)
	}
	require.Equal(t, zero, cluster["progress"].(map[string]any)["finalizing_stage_started_at"])
	require.Equal(t, zero, cluster["image_info"].(map[string]any)["expires_at"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, cluster["created_at"])
	host := s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID), nil).Object()
	for _, field := range []string{"logs_collected_at", "logs_started_at", "stage_started_at", "stage_updated_at"} {
		require.Equal(t, zero, host[field], field)
	}
	env := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String(), nil).Object()
	require.Equal(t, zero, env["expires_at"])
}

func TestFieldsOfJSONTextAreStrings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{})
		h.FreeAddresses = wire.FreeNetworksAddresses{{Network: "192.0.2.0/24"}}
		h.NTPSources = []wire.NtpSource{{SourceName: "ntp", SourceState: "synced"}}
		h.DomainResolution = &wire.DomainResolutionResponse{}
		h.Images = []wire.ContainerImageAvailability{{Name: "quay.io/x", Result: "success"}}
		h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, SyncDurationMS: 3}}
		h.NodeLabels = map[string]string{"a": "b"}
		h.InstallerArgs = []string{"-n"}
	})
	host := s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID), nil).Object()
	for _, field := range []string{
		"validations_info", "inventory", "connectivity", "free_addresses", "ntp_sources", "domain_name_resolutions",
		"images_status", "disks_info", "node_labels", "installer_args",
	} {
		requireJSONText(t, host, field)
	}
	cluster := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).Object()
	for _, field := range []string{"validations_info", "connectivity_majority_groups", "feature_usage", "ip_collisions"} {
		requireJSONText(t, cluster, field)
	}
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		"/v2/infra-envs/"+e.ID.String(),
		`{"static_network_config":[{"network_yaml":"interfaces: [{name: eth0, type: ethernet}]","mac_interface_map":[{"mac_address":"52:54:00:aa:bb:01","logical_nic_name":"eth0"}]}],
		"kernel_arguments":[{"operation":"append","value":"a=b"}]}`,
	)
	env := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String(), nil).Object()
	requireJSONText(t, env, "static_network_config")
	requireJSONText(t, env, "kernel_arguments")
}

func requireJSONText(t *testing.T, object map[string]any, field string) {
	t.Helper()
	text, isText := object[field].(string)
	require.True(t, isText, "%s: %v", field, object[field])
	require.True(t, json.Valid([]byte(text)), "%s: %s", field, text)
}

func TestValidationsCanBeParsedFromRegistrationOn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret}
	registered := s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", body).Object()
	require.Equal(t, "{}", registered["validations_info"])
	e := s.infraEnv(uuid.Nil)
	host := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+e.ID.String()+"/hosts", map[string]any{"host_id": uuid.New()}).
		Object()
	require.Equal(t, "{}", host["validations_info"])
	id := uuid.MustParse(registered["id"].(string))
	s.changeCluster(id, func(c *model.Cluster) {
		c.Validations = []model.ValidationResult{{ID: "pull-secret-set", Category: "configuration", Status: "success", Message: "m"}}
	})
	require.JSONEq(t, `{"configuration":[{"id":"pull-secret-set","status":"success","message":"m"}]}`, s.readCluster(id).ValidationsInfo)
}

func TestFieldsThatClientsDereferenceAreThere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	s.host(e.ID)
	cluster := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).Object()
	requireFields(t, cluster, "id", "kind", "href", "name", "status", "status_info", "image_info", "hosts", "progress", "platform")
	host := cluster["hosts"].([]any)[0].(map[string]any)
	requireFields(
		t,
		host,
		"id",
		"kind",
		"href",
		"status",
		"status_info",
		"requested_hostname",
		"role",
		"progress",
		"progress_stages",
		"inventory",
	)
	event := s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String(), nil).List()[0]
	requireFields(t, event, "message", "severity", "event_time")
	env := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String(), nil).Object()
	requireFields(t, env, "id", "kind", "href", "name", "type", "created_at", "updated_at")
}

func requireFields(t *testing.T, object map[string]any, fields ...string) {
	t.Helper()
	for _, field := range fields {
		require.Contains(t, object, field)
		require.NotNil(t, object[field], field)
	}
}

func TestValuesOutsideAClosedSetAreRefusedWithTheSet(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	got := s.send(http.MethodPatch, clusterPath(c.ID), `{"network_type":"Bogus"}`).Reason(http.StatusBadRequest)
	require.Contains(t, got, "network_type")
	require.Contains(t, got, "OVNKubernetes")
	require.Contains(t, got, `"Bogus"`)
	got = s.send(http.MethodGet, "/v2/events?order=sideways", nil).Reason(http.StatusBadRequest)
	require.Contains(t, got, "ascending, descending")
	got = s.send(http.MethodGet, "/v2/events?severities=info,loud", nil).Reason(http.StatusBadRequest)
	require.Contains(t, got, `"loud"`)
}

func TestEveryStyleOfCredentialsIsTakenWithoutAuthentication(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for header, value := range map[string]string{
		"Authorization": "Bearer test-token", "X-Secret-Key": "c2VjcmV0", "Image-Token": "token", "Watcher-Authorization": "token",
	} {
		s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil, header, value)
	}
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil, "Authorization", "a-token-without-a-scheme")
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters?api_key="+url.QueryEscape("a b")+"&image_token=x", nil)
}

func TestDownloadsAreFilesWithANameAlsoForHead(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	path := "/v2/infra-envs/" + e.ID.String() + "/downloads/files?file_name=discovery.ign"
	got := s.want(http.StatusOK, http.MethodGet, path, nil)
	head := s.want(http.StatusOK, http.MethodHead, path, nil)
	require.Empty(t, head.Body)
	for _, header := range []http.Header{got.Header, head.Header} {
		require.Equal(t, "application/octet-stream", header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="discovery.ign"`, header.Get("Content-Disposition"))
		require.NotEmpty(t, header.Get("Last-Modified"), "image servers resume downloads by it")
		require.True(t, strings.HasSuffix(header.Get("Last-Modified"), "GMT"))
	}
}
