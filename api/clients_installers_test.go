package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// formPost sends what curl does for empty data: no body, but the type of a form.
func (s *service) formPost(path string) reply {
	s.t.Helper()
	return s.send(http.MethodPost, path, strings.NewReader(""), "Content-Type", "application/x-www-form-urlencoded")
}

// TestShellOfTheAgentBasedInstallerFindsAndStartsItsCluster plays the scripts of the
// image: they know no id and read lists only.
func TestShellOfTheAgentBasedInstallerFindsAndStartsItsCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Equal(
		t,
		"[]\n",
		string(s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs", nil).Body),
		"a client waits with this list for the service",
	)
	require.Equal(t, "[]\n", string(s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil).Body))

	c := s.cluster(nil)
	e := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{
		"name": "abi", "pull_secret": pullSecret, "cluster_id": c.ID, "cpu_architecture": "x86_64",
		"static_network_config": json.RawMessage("[" + staticHost + "]"),
	}).Object()
	env := uuid.MustParse(e["id"].(string))
	h := s.host(env)
	clusters := s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil).List()
	require.Len(t, clusters, 1)
	require.Equal(t, c.ID.String(), clusters[0]["id"])
	require.NotEmpty(t, clusters[0]["status"])
	hosts := s.want(http.StatusOK, http.MethodGet, envPath(env)+"/hosts", nil).List()
	require.Len(t, hosts, 1)
	require.NotEmpty(t, hosts[0]["status"])
	require.NotNil(t, hosts[0]["status_info"])

	s.want(
		http.StatusCreated,
		http.MethodPatch,
		hostPath(env, h.ID),
		`{"host_role":"master","disks_selected_config":[{"id":"/dev/sdb","role":"install"}]}`,
	)
	require.Equal(t, "wwn-0x2", s.readHost(env, h.ID).InstallationDiskID)
	require.Equal(t, http.StatusAccepted, s.formPost(clusterPath(c.ID)+"/actions/install").Status)

	for _, event := range s.want(http.StatusOK, http.MethodGet, "/v2/events?infra_env_id="+env.String(), nil).List() {
		require.NotEmpty(t, event["message"])
		require.NotEmpty(t, event["severity"])
	}
}

func TestAgentBasedInstallerStartsASecondTimeWithoutHarm(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	manifest := map[string]any{"folder": "openshift", "file_name": "50-x.yaml", "content": "YTogMQo="}
	for range 2 {
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID)+"/install-config", `"{\"fips\":true}"`)
		s.want(http.StatusCreated, http.MethodPost, clusterPath(c.ID)+"/manifests", manifest)
		require.Len(t, s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/manifests", nil).List(), 1)
		got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/manifests/files?folder=openshift&file_name=50-x.yaml", nil)
		require.Equal(t, "a: 1\n", string(got.Body))
		s.want(
			http.StatusCreated,
			http.MethodPatch,
			clusterPath(c.ID),
			`{"platform":{"type":"baremetal"},"api_vips":[{"ip":"192.168.126.5"}],"ingress_vips":[{"ip":"192.168.126.6"}],"machine_networks":[{"cidr":"192.168.126.0/24"}]}`,
		)
	}
}

func TestNodesThatAreAddedByTheAgentBasedInstallerAreInstalledAlone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
		"name": "old", "openshift_cluster_id": uuid.New(), "api_vip_dnsname": "api.old.example.com", "openshift_version": "4.22",
	}).JSON(&c)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostKnown })
	require.Equal(t, http.StatusAccepted, s.formPost(hostPath(e.ID, h.ID)+"/actions/install").Status)
	require.Equal(t, []string{"install host " + h.ID.String()}, s.orchestrator.commands)
}

// TestJetlagGetsExactlyTheCodesItAsksFor plays the calls of its roles, in their order.
func TestJetlagGetsExactlyTheCodesItAsksFor(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"high_availability_mode": "Full", "network_type": "OVNKubernetes"})
	cluster := clusterPath(c.ID)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		cluster,
		`{"api_vips":[{"ip":"192.168.126.5"}],"ingress_vips":[{"ip":"192.168.126.6"}],"machine_networks":[{"cidr":"192.168.126.0/24"}]}`,
	)
	s.want(
		http.StatusCreated,
		http.MethodPost,
		cluster+"/manifests",
		map[string]any{"folder": "manifests", "file_name": "a.yml", "content": "YTogMQo="},
	)
	e := s.infraEnv(c.ID)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"static_network_config":[`+staticHost+`],"image_type":"minimal-iso"}`)
	require.Contains(t, s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/image-url", nil).Object(), "url")
	h := s.host(e.ID)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, cluster, nil).Object()["hosts"], 1)
	require.NotEmpty(t, s.readHost(e.ID, h.ID).Status)
	for _, change := range []string{
		`{"host_name":"node-0"}`, `{"host_role":"master"}`, `{"disks_selected_config":[{"id":"/dev/sdb","role":"install"}]}`,
		`{"disks_selected_config":[{"id":"wwn-0x1","role":"install"}]}`,
	} {
		s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), change)
	}
	twice, err := json.Marshal(`{"networking":{"networkType":"OVNKubernetes"}}`)
	require.NoError(t, err)
	s.want(http.StatusCreated, http.MethodPatch, cluster+"/install-config", string(twice))
	s.want(http.StatusAccepted, http.MethodPost, cluster+"/actions/install", nil)

	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostInstallingPendingUserAction })
	hosts := s.want(http.StatusOK, http.MethodGet, cluster+"/hosts", nil).List()
	require.Equal(t, "installing-pending-user-action", hosts[0]["status"], "it takes the medium out of the machine then")
	for _, name := range []string{"kubeconfig", "kubeadmin-password"} {
		s.secretFile(c.ID, name, name)
	}
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	for _, name := range []string{"kubeconfig", "kubeadmin-password"} {
		require.Equal(t, name, string(s.want(http.StatusOK, http.MethodGet, cluster+"/downloads/credentials?file_name="+name, nil).Body))
	}
}

// Clients parse an inventory as soon as the field is there.
func TestHostWithoutAnInventoryHasNoSuchField(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	s.want(http.StatusCreated, http.MethodPost, envPath(e.ID)+"/hosts", map[string]any{"host_id": uuid.New()})
	host := s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/hosts", nil).List()[0]
	require.NotContains(t, host, "inventory")
	requireFields(t, host, "requested_hostname", "status", "role")
}
