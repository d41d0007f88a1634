package api_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func (s *service) imported() wire.Cluster {
	s.t.Helper()
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
		"name": "scale-up My cluster", "api_vip_dnsname": "api.prod.example.com", "openshift_cluster_id": uuid.New(),
		"openshift_version": "4.22.9",
	}).JSON(&c)
	return c
}

func TestImportedClusterTakesHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.imported()
	require.Equal(t, wire.ClusterKindAddHostsCluster, c.Kind)
	require.Equal(t, wire.ClusterStatusAddingHosts, c.Status)
	require.True(t, c.Imported)
	require.Equal(t, "api.prod.example.com", c.APIVipDNSName)
	require.Equal(t, "prod", c.Name)
	require.Equal(t, "example.com", c.BaseDNSDomain)
	require.Equal(t, "4.22.9", c.OpenshiftVersion)
	require.NotEmpty(t, c.OcpReleaseImage)
	require.NotEqual(t, uuid.Nil, c.OpenshiftClusterID)
	require.Empty(t, c.MonitoredOperators)
	require.JSONEq(t, "{}", c.ValidationsInfo)
	h := s.host(s.infraEnv(c.ID).ID)
	require.Equal(t, wire.HostKindAddToExistingClusterHost, h.Kind)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?openshift_cluster_id="+c.OpenshiftClusterID.String(), nil).List(), 1)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?openshift_cluster_id="+uuid.Nil.String(), nil).List())
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?openshift_cluster_id=", nil).List(), 1, "no id")
}

func TestImportedClusterWithoutADNSNameOfItsAPIKeepsItsName(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, api := range []string{"192.0.2.1", "2001:db8::ff", "api-int.prod.example.com", "lb.example.com"} {
		var c wire.Cluster
		s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
			"name": "mine", "api_vip_dnsname": api, "openshift_cluster_id": uuid.New(),
		}).JSON(&c)
		require.Equal(t, "mine", c.Name, api)
		require.Empty(t, c.BaseDNSDomain, api)
	}
}

func TestImportedClusterHasTheNameOfItsAPIInLowerCase(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for sent, want := range map[string]string{
		"API.D2.Example.com": "api.d2.example.com", " api.d2.example.com\n": "api.d2.example.com", "LB.Example.com": "lb.example.com",
		"2001:DB8::FF": "2001:db8::ff",
	} {
		var c wire.Cluster
		s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
			"name": "mine", "api_vip_dnsname": sent, "openshift_cluster_id": uuid.New(),
		}).JSON(&c)
		require.Equal(t, want, c.APIVipDNSName, sent)
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"api_vip_dns_name": "192.0.2.9"})
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"api_vip_dns_name": sent}).JSON(&c)
		require.Equal(t, want, c.APIVipDNSName, sent)
	}
}

func TestImportedClusterLearnsItsDomainFromALaterName(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", map[string]any{
		"name": "mine", "api_vip_dnsname": "192.0.2.1", "openshift_cluster_id": uuid.New(),
	}).JSON(&c)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"api_vip_dns_name": "api.d2.example.com"}).JSON(&c)
	require.Equal(t, "d2", c.Name)
	require.Equal(t, "example.com", c.BaseDNSDomain)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"api_vip_dns_name": "api.d3.example.org"}).JSON(&c)
	require.Equal(t, "d2", c.Name, "it has one")
	require.Equal(t, "example.com", c.BaseDNSDomain)
}

func TestImportedClusterTakesNoManifests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	content := base64.StdEncoding.EncodeToString([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	reason := s.send(http.MethodPost, clusterPath(s.imported().ID)+"/manifests", map[string]any{
		"folder": "manifests", "file_name": "a.yaml", "content": content,
	}).Reason(http.StatusBadRequest)
	require.Contains(t, reason, "cluster prod exists already, apply it there")
}

func TestClustersThatCannotBeImportedAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, call := range map[string]struct {
		field string
		value any
		want  string
	}{
		"without a name":                  {"name", " ", "name"},
		"with a zero id":                  {"openshift_cluster_id", uuid.Nil, "openshift_cluster_id"},
		"with an address that is invalid": {"api_vip_dnsname", "api prod", "api_vip_dnsname"},
		"with a version that is invalid":  {"openshift_version", "newest", "openshift_version"},
		"with a field that is not ours":   {"pull_secret", "x", "pull_secret"},
	} {
		body := map[string]any{"name": "x", "api_vip_dnsname": "192.0.2.1", "openshift_cluster_id": uuid.New()}
		body[call.field] = call.value
		require.Contains(t, s.send(http.MethodPost, "/v2/clusters/import", body).Reason(http.StatusBadRequest), call.want, name)
	}
	body := map[string]any{"name": "x", "api_vip_dnsname": "192.0.2.1", "openshift_cluster_id": uuid.New(), "openshift_version": "4.9.1"}
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", body)
}

func TestDisconnectedClusterIsNotWatched(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/disconnected", map[string]any{"name": "far", "openshift_version": "4.22"}).
		JSON(&c)
	require.Equal(t, wire.ClusterKindDisconnectedCluster, c.Kind)
	require.Equal(t, wire.ClusterStatusUnmonitored, c.Status)
	require.Equal(t, "4.22.9", c.OpenshiftVersion)
	require.False(t, c.PullSecretSet)
	require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), `{"tags":"x"}`).Reason(http.StatusConflict), "unmonitored")
	require.Contains(t, s.send(http.MethodGet, clusterPath(c.ID)+"/install-config", nil).Reason(http.StatusBadRequest), "disconnected image")
	s.send(http.MethodPatch, clusterPath(c.ID)+"/install-config", `"{}"`).Reason(http.StatusConflict)
	require.Contains(
		t,
		s.send(http.MethodPost, clusterPath(c.ID)+"/actions/allow-add-hosts", nil).Reason(http.StatusConflict),
		"unmonitored",
	)
	for _, body := range []string{`{"name":"Far","openshift_version":"4.22"}`, `{"name":"far","openshift_version":"4.99"}`} {
		s.send(http.MethodPost, "/v2/clusters/disconnected", body).Reason(http.StatusBadRequest)
	}
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
}

func TestInstalledClusterCanBeOpenedForMoreHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, action := range []string{"allow-add-hosts", "allow-add-workers"} {
		c := s.cluster(nil)
		e := s.infraEnv(c.ID)
		first := s.host(e.ID)
		require.Contains(
			t,
			s.send(http.MethodPost, clusterPath(c.ID)+"/actions/"+action, nil).Reason(http.StatusConflict),
			"require status installed",
		)
		s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
		s.changeHost(e.ID, first.ID, func(h *model.Host) { h.Status, h.Stage = model.HostInstalled, model.StageDone })
		var got wire.Cluster
		s.want(http.StatusAccepted, http.MethodPost, clusterPath(c.ID)+"/actions/"+action, nil).JSON(&got)
		require.Equal(t, wire.ClusterKindAddHostsCluster, got.Kind)
		require.Equal(t, wire.ClusterStatusAddingHosts, got.Status)
		require.Equal(t, "api.prod.example.com", got.APIVipDNSName)
		require.False(t, got.Imported)
		second := s.host(e.ID)
		require.Equal(t, wire.HostKindAddToExistingClusterHost, second.Kind)
		require.NoError(t, s.evaluation.RefreshCluster(t.Context(), c.ID))
		first = s.readHost(e.ID, first.ID)
		require.Equal(t, wire.ClusterStatusAddingHosts, s.readCluster(c.ID).Status)
		require.Equal(t, wire.HostKindHost, first.Kind)
		require.Equal(t, wire.HostStatusInstalled, first.Status)
		s.send(http.MethodPost, clusterPath(c.ID)+"/actions/"+action, nil).Reason(http.StatusConflict)
	}
	s.send(http.MethodPost, clusterPath(uuid.New())+"/actions/allow-add-hosts", nil).Reason(http.StatusNotFound)
}

func TestClusterThatTakesHostsKeepsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	s := newService(t)
	imported := s.imported()
	installed := s.cluster(nil)
	s.changeCluster(installed.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	s.want(http.StatusAccepted, http.MethodPost, clusterPath(installed.ID)+"/actions/allow-add-hosts", nil)
	for _, c := range []wire.Cluster{imported, installed} {
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{
			"api_vip_dns_name":"192.0.2.7","ignition_endpoint":{"url":"https://192.0.2.7:22624/config"},
			"ssh_public_key":"`+sshKey+`","tags":"a","additional_ntp_source":"192.0.2.9","no_proxy":"example.com"}`)
		got := s.readCluster(c.ID)
		require.Equal(t, "192.0.2.7", got.APIVipDNSName)
		require.Equal(t, "https://192.0.2.7:22624/config", got.IgnitionEndpoint.URL)
		for field, body := range map[string]string{
			"control_plane_count": `{"control_plane_count":5}`, "platform": `{"platform":{"type":"none"}}`,
			"api_vips": `{"api_vips":[{"ip":"192.0.2.1"}]}`, "machine_networks": `{"machine_network_cidr":"192.0.2.0/24"}`,
			"network_type": `{"network_type":"Calico"}`, "olm_operators": `{"olm_operators":[{"name":"lso"}]}`,
			"hyperthreading": `{"hyperthreading":"none"}`, "disk_encryption": `{"disk_encryption":{"enable_on":"all"}}`,
		} {
			require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), body).Reason(http.StatusConflict), field)
		}
	}
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(imported.ID), `{"name":"prod","base_dns_domain":"example.com"}`)
	require.Contains(t, s.send(http.MethodPatch, clusterPath(installed.ID), `{"name":"other"}`).Reason(http.StatusConflict), "name")
}

func TestHostsOfAnExistingClusterAreWorkersFromTheStart(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.imported()
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	got := s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID), nil).Object()
	require.Equal(t, "worker", got["role"])
	var stages []any
	for _, stage := range steps.ShownStages(model.RoleWorker, false, false, true) {
		stages = append(stages, string(stage))
	}
	require.Equal(t, stages, got["progress_stages"])
	require.Equal(t, "Rebooting", stages[len(stages)-1], "no controller reports what comes after it")
}
