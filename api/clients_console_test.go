package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

// The requests of the console follow docs/reference/wire.md, "Web console", in its order and with its spelling of addresses.

func TestConsoleOpensItsListAndTheFormOfANewCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters/", nil).List())
	s.cluster(nil)
	row := s.want(http.StatusOK, http.MethodGet, "/v2/clusters/", nil).List()[0]
	for _, field := range []string{
		"id", "name", "status", "openshift_version", "base_dns_domain", "total_host_count", "ready_host_count", "enabled_host_count",
		"created_at",
	} {
		require.Contains(t, row, field)
	}

	defaults := s.want(http.StatusOK, http.MethodGet, "/v2/clusters//default-config", nil).Object()
	require.NotEmpty(t, defaults["cluster_networks_ipv4"])
	for _, latest := range []string{"false", "true"} {
		for version, offer := range s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions?only_latest="+latest, nil).Object() {
			for _, field := range []string{"display_name", "support_level", "cpu_architectures"} {
				require.Contains(t, offer, field, version)
			}
		}
	}
	s.want(http.StatusOK, http.MethodGet, "/v2/domains", nil).List()
	for _, architecture := range []string{"x86_64", "arm64"} {
		levels := s.want(
			http.StatusOK, http.MethodGet, "/v2/support-levels/features?openshift_version=4.22&cpu_architecture="+architecture, nil,
		).
			Object()
		require.IsType(t, map[string]any{}, levels["features"])
	}
}

// draft makes a cluster as the console does on its first page.
func (s *service) draft() (cluster, infraEnv uuid.UUID) {
	s.t.Helper()
	made := s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/", map[string]any{
		"name": "draft", "control_plane_count": 3, "openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com",
		"cpu_architecture": "x86_64", "disk_encryption": map[string]any{"mode": "tpmv2", "enable_on": "none"},
	}).Object()
	cluster = uuid.MustParse(made["id"].(string))
	env := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/", map[string]any{
		"name": "draft_infra-env", "pull_secret": pullSecret, "cluster_id": cluster, "openshift_version": "4.22",
		"cpu_architecture": "x86_64",
	}).Object()
	infraEnv = uuid.MustParse(env["id"].(string))
	s.want(http.StatusOK, http.MethodPut, clusterPath(cluster)+"/ui-settings", `"AI_UI:{\"addCustomManifests\":false}"`)
	return cluster, infraEnv
}

func TestConsoleDefinesAClusterAndOpensItAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	cluster, env := s.draft()
	about := s.want(http.StatusOK, http.MethodGet, clusterPath(cluster), nil).Object()
	for _, field := range []string{"validations_info", "feature_usage"} {
		require.True(t, json.Valid([]byte(about[field].(string))), field)
	}
	for range 3 {
		require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/?cluster_id="+cluster.String(), nil).List(), 1)
	}
	s.want(http.StatusOK, http.MethodGet, envPath(env), nil)
	require.JSONEq(
		t,
		`"AI_UI:{\"addCustomManifests\":false}"`,
		string(s.want(http.StatusOK, http.MethodGet, clusterPath(cluster)+"/ui-settings", nil).Body),
	)
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters//default-config", nil)
	s.want(
		http.StatusOK,
		http.MethodGet,
		"/v2/support-levels/features?openshift_version=4.22&cpu_architecture=x86_64&platform_type=baremetal",
		nil,
	)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, clusterPath(cluster)+"/manifests", nil).List())

	require.Contains(t, s.want(http.StatusOK, http.MethodGet, clusterPath(cluster)+"/preflight-requirements", nil).Object(), "ocp")
	bundles := s.want(
		http.StatusOK, http.MethodGet, "/v2/operators/bundles?openshift_version=4.22&cpu_architecture=x86_64&platform_type=baremetal", nil,
	).
		List()
	require.Contains(t, bundles[0], "operators")
	var names []string
	s.want(http.StatusOK, http.MethodGet, "/v2/supported-operators", nil).JSON(&names)
	require.Contains(t, names, "lso")

	s.want(http.StatusCreated, http.MethodPatch, envPath(env), `{"image_type":"minimal-iso","ssh_authorized_key":""}`)
	require.Contains(t, s.want(http.StatusOK, http.MethodGet, envPath(env)+"/downloads/image-url", nil).Object()["url"], "minimal")
	signed := s.want(http.StatusOK, http.MethodGet, envPath(env)+"/downloads/files-presigned?file_name=ipxe-script", nil).Object()
	require.Contains(t, signed["url"], "ipxe-script")
}

func TestConsoleEditsHostsAndWatchesTheClusterOnly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	cluster, env := s.draft()
	h := s.host(env)
	s.want(http.StatusCreated, http.MethodPatch, hostPath(env, h.ID), `{"host_name":"node-0","host_role":"master"}`)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		clusterPath(cluster)+"/",
		`{"api_vips":[],"ingress_vips":[],"network_type":"OVNKubernetes","user_managed_networking":false}`,
	)
	s.want(http.StatusOK, http.MethodPut, clusterPath(cluster)+"/ui-settings", `"AI_UI:{\"bundlesSelected\":[]}"`)

	about := s.want(http.StatusOK, http.MethodGet, clusterPath(cluster), nil).Object()
	for _, field := range []string{
		"kind", "status_info", "cpu_architecture", "control_plane_count", "machine_networks", "host_networks", "platform",
		"pull_secret_set",
		"progress", "monitored_operators", "disk_encryption", "schedulable_masters", "install_started_at", "install_completed_at",
		"image_info",
	} {
		require.Contains(t, about, field)
	}
	shown := about["hosts"].([]any)[0].(map[string]any)
	require.Equal(t, "node-0", shown["requested_hostname"])
	require.Equal(t, "master", shown["role"])
	for _, field := range []string{"inventory", "validations_info"} {
		require.True(t, json.Valid([]byte(shown[field].(string))), field)
	}
	s.changeHost(env, h.ID, func(h *model.Host) { h.Status, h.SuggestedRole = model.HostInstalling, model.RoleMaster })
	shown = s.want(http.StatusOK, http.MethodGet, clusterPath(cluster), nil).Object()["hosts"].([]any)[0].(map[string]any)
	require.NotEmpty(t, shown["progress_stages"], "the console counts the stages of a host")

	for _, action := range []string{"install", "cancel", "reset"} {
		s.want(http.StatusAccepted, http.MethodPost, clusterPath(cluster)+"/actions/"+action, nil)
	}
	s.want(http.StatusOK, http.MethodPost, hostPath(env, h.ID)+"/actions/reset", nil)
	s.changeHost(env, h.ID, func(h *model.Host) { h.Status = model.HostKnown })
	s.want(http.StatusNoContent, http.MethodDelete, hostPath(env, h.ID)+"/", nil)
}

func TestConsolePagesThroughEventsAndTakesWhatAnInstallationLeft(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.history(c.ID, uuid.New())
	page := "/v2/events?order=descending&cluster_id=" + c.ID.String() + "&limit=10&offset="
	counts := s.want(
		http.StatusOK,
		http.MethodGet,
		page+"0&severities=info,warning,error,critical&message=&deleted_hosts=true&cluster_level=true",
		nil,
	).Header
	for _, name := range []string{
		"Event-Count", "Severity-Count-Info", "Severity-Count-Warning", "Severity-Count-Error", "Severity-Count-Critical",
	} {
		_, err := strconv.Atoi(counts.Get(name))
		require.NoError(t, err, name)
		require.Contains(t, counts.Get("Access-Control-Expose-Headers"), name)
	}
	first := s.want(http.StatusOK, http.MethodGet, page+"0", nil)
	total, err := strconv.Atoi(first.Header.Get("Event-Count"))
	require.NoError(t, err)
	require.Len(t, first.List(), min(total, 10))
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, page+strconv.Itoa(total), nil).List(), "a page beyond the last one")

	for name, content := range map[string]string{"kubeadmin-password": "word", "kubeconfig": "whole"} {
		s.secretFile(c.ID, name, content)
	}
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	require.Equal(t, "kubeadmin", s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/credentials", nil).Object()["username"])
	got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/downloads/credentials?file_name=kubeconfig", nil)
	require.Contains(t, got.Header.Get("Content-Disposition"), "kubeconfig")
	require.Equal(t, http.StatusNoContent, s.upload(clusterPath(c.ID)+"/logs?logs_type=controller", "logs").Status)
	got = s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/logs?logs_type=all", nil)
	require.Contains(t, got.Header.Get("Content-Disposition"), "filename=")
}
