package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func (s *service) secretFile(id uuid.UUID, name, content string) {
	s.t.Helper()
	_, err := s.blob.PutSecret(s.t.Context(), "clusters/"+id.String()+"/"+name, []byte(content))
	require.NoError(s.t, err)
}

func TestCredentialsAreGivenWhenTheClusterHasThem(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID)
	for _, address := range []string{
		"/credentials", "/downloads/credentials?file_name=kubeconfig", "/downloads/credentials?file_name=kubeadmin-password",
		"/downloads/files?file_name=bootstrap.ign",
	} {
		require.Contains(t, s.send(http.MethodGet, path+address, nil).Reason(http.StatusConflict), "insufficient", address)
	}
	s.secretFile(c.ID, "kubeadmin-password", "pass-word\n")
	s.secretFile(c.ID, "kubeconfig-noingress", "early")
	s.secretFile(c.ID, "bootstrap.ign", "{}")
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	got := s.want(http.StatusOK, http.MethodGet, path+"/downloads/credentials?file_name=kubeconfig-noingress", nil)
	require.Equal(t, "early", string(got.Body))
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	require.Equal(t, "{}", string(s.want(http.StatusOK, http.MethodGet, path+"/downloads/files?file_name=bootstrap.ign", nil).Body))
	s.send(http.MethodGet, path+"/downloads/credentials?file_name=kubeconfig", nil).Reason(http.StatusConflict)
	s.send(http.MethodGet, path+"/credentials", nil).Reason(http.StatusConflict)

	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterFinalizing })
	require.Contains(
		t,
		s.send(http.MethodGet, path+"/downloads/credentials?file_name=kubeconfig", nil).Reason(http.StatusConflict),
		"finalizing",
	)
	s.secretFile(c.ID, "kubeconfig", "whole")
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	require.Equal(t, "whole", string(s.want(http.StatusOK, http.MethodGet, path+"/downloads/credentials?file_name=kubeconfig", nil).Body))
	require.Equal(t, map[string]any{
		"username": "kubeadmin", "password": "pass-word",
		"console_url": "https://console-openshift-console.apps.prod.example.com",
	}, s.want(http.StatusOK, http.MethodGet, path+"/credentials", nil).Object())
	s.send(http.MethodGet, path+"/downloads/files?file_name=custom_manifests.json", nil).Reason(http.StatusNotFound)
	s.send(http.MethodGet, path+"/downloads/files?file_name=..%2Fx", nil).Reason(http.StatusBadRequest)
	s.send(http.MethodGet, clusterPath(uuid.New())+"/credentials", nil).Reason(http.StatusNotFound)
}

func TestFilesOfAnInstallationAreDownloaded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID) + "/downloads/files?file_name="
	names := []string{
		"bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "metadata.json", "install-config.yaml", "custom_manifests.json",
		"custom_manifests.yaml",
	}
	for _, name := range names {
		require.Contains(t, s.send(http.MethodGet, path+name, nil).Reason(http.StatusConflict), name)
	}
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	for _, name := range names {
		require.Contains(t, s.send(http.MethodGet, path+name, nil).Reason(http.StatusNotFound), name)
		s.secretFile(c.ID, name, "content of "+name)
		got := s.want(http.StatusOK, http.MethodGet, path+name, nil)
		require.Equal(t, "content of "+name, string(got.Body))
		require.Equal(t, `attachment; filename="`+name+`"`, got.Header.Get("Content-Disposition"))
		require.Equal(t, "application/octet-stream", got.Header.Get("Content-Type"))
		head := s.want(http.StatusOK, http.MethodHead, path+name, nil)
		require.Empty(t, head.Body)
		require.Equal(t, got.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
		require.NotContains(t, s.logged.String(), "content of")
	}
	for _, status := range []model.ClusterStatus{
		model.ClusterFinalizing, model.ClusterInstalled, model.ClusterError, model.ClusterCancelled,
	} {
		s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = status })
		s.want(http.StatusOK, http.MethodGet, path+"metadata.json", nil)
	}
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterReady })
	s.send(http.MethodGet, path+"metadata.json", nil).Reason(http.StatusConflict)
	s.send(http.MethodGet, clusterPath(uuid.New())+"/downloads/files?file_name=metadata.json", nil).Reason(http.StatusNotFound)
}

func TestIgnitionOfAHostIsGivenOnceItWasMade(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Role, h.Bootstrap, h.Status = model.RoleMaster, true, model.HostInstalling
	})
	// The installer asks below "infra-env", in the singular.
	download := "/v2/infra-env/" + e.ID.String() + "/hosts/" + h.ID.String() + "/downloads/ignition"
	require.Contains(t, s.send(http.MethodGet, download, nil).Reason(http.StatusConflict), "prepared")
	require.Contains(t, s.send(http.MethodGet, hostPath(e.ID, h.ID)+"/ignition", nil).Reason(http.StatusConflict), "prepared")
	s.secretFile(c.ID, "master-"+h.ID.String()+".ign", `{"ignition":{}}`)
	got := s.want(http.StatusOK, http.MethodGet, download, nil)
	require.Equal(t, `{"ignition":{}}`, string(got.Body))
	require.Equal(t, `attachment; filename="master-`+h.ID.String()+`.ign"`, got.Header.Get("Content-Disposition"))
	require.Equal(
		t,
		map[string]any{"config": `{"ignition":{}}`},
		s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID)+"/ignition", nil).Object(),
	)

	pool := s.infraEnv(uuid.Nil)
	unbound := s.host(pool.ID)
	s.send(http.MethodGet, hostPath(pool.ID, unbound.ID)+"/ignition", nil).Reason(http.StatusConflict)
}

func TestClustersThatExistAlreadyHaveNoInstallConfig(t *testing.T) {
	t.Parallel()
	s := newService(t)
	withoutVersion := map[string]any{"name": "d2", "api_vip_dnsname": "api.d2.example.com", "openshift_cluster_id": uuid.New()}
	var without wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", withoutVersion).JSON(&without)
	for _, id := range []uuid.UUID{s.imported().ID, without.ID} {
		path := clusterPath(id) + "/install-config"
		const want = "only adds hosts to a cluster that exists already, which has no install-config here"
		require.Contains(t, s.send(http.MethodGet, path, nil).Reason(http.StatusBadRequest), want)
		for _, override := range []string{`"{\"fips\":true}"`, `"{}"`, `""`} {
			require.Contains(t, s.send(http.MethodPatch, path, override).Reason(http.StatusBadRequest), want, override)
		}
		require.Empty(t, s.readCluster(id).InstallConfigOverrides)
	}
	installed := s.cluster(nil)
	s.changeCluster(installed.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	s.want(http.StatusAccepted, http.MethodPost, clusterPath(installed.ID)+"/actions/allow-add-hosts", nil)
	path := clusterPath(installed.ID) + "/install-config"
	refusal := s.send(http.MethodPatch, path, `"{\"fips\":true}"`).Reason(http.StatusConflict)
	require.Contains(t, refusal, "require a cluster that is not installed yet")
	s.want(http.StatusOK, http.MethodGet, path, nil)
}

func TestNetworksOfAnOverrideAreValidated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"cluster_networks": []any{map[string]any{"cidr": "10.128.0.0/14", "host_prefix": 26}}})
	valid := func(want string) {
		t.Helper()
		require.Equal(t, want, verdict(t, s.readCluster(c.ID).ValidationsInfo, "network-prefix-valid"))
	}
	valid("failure")
	path := clusterPath(c.ID) + "/install-config"
	s.want(http.StatusCreated, http.MethodPatch, path, `"{\"networking\":{\"networkType\":\"Calico\"}}"`)
	valid("success")
	require.Contains(t, s.readCluster(c.ID).ValidationsInfo, "The network type Calico supports this cluster")
	require.Equal(t, "OVNKubernetes", string(s.readCluster(c.ID).NetworkType), "the definition shows what was set there")
	s.want(http.StatusCreated, http.MethodPatch, path, `"{\"networking\":{\"clusterNetwork\":[{\"hostPrefix\":23}]}}"`)
	valid("success")
	s.want(http.StatusCreated, http.MethodPatch, path, `""`)
	valid("failure")
}

func TestInstallConfigIsReadAsAStringAndOverridden(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{
		"api_vips": []any{map[string]any{"ip": "192.0.2.1"}}, "ingress_vips": []any{map[string]any{"ip": "192.0.2.2"}},
	})
	path := clusterPath(c.ID) + "/install-config"
	read := func() map[string]any {
		var text string
		s.want(http.StatusOK, http.MethodGet, path, nil).JSON(&text)
		config := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(text), &config))
		return config
	}
	require.Equal(t, "example.com", read()["baseDomain"])
	require.Equal(t, false, read()["fips"])
	require.Empty(t, s.want(http.StatusCreated, http.MethodPatch, path, `"{\"fips\":true}"`).Body)
	require.Equal(t, true, read()["fips"])
	require.JSONEq(t, `{"fips":true}`, s.readCluster(c.ID).InstallConfigOverrides)
	require.Contains(t, s.send(http.MethodPatch, path, `"{\"flips\":true}"`).Reason(http.StatusBadRequest), "flips")
	s.send(http.MethodPatch, path, `"{"`).Reason(http.StatusBadRequest)
	require.Contains(
		t,
		s.send(http.MethodPatch, path, `"{\"metadata\":{\"name\":\"other\"}}"`).Reason(http.StatusBadRequest),
		"metadata.name",
	)
	s.send(http.MethodPatch, clusterPath(uuid.New())+"/install-config", `"{}"`).Reason(http.StatusNotFound)
	e := s.infraEnv(c.ID)
	_, err := s.store.UpdateInfraEnv(t.Context(), e.ID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.AdditionalTrustBundle = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, read()["additionalTrustBundle"], "MIIB", "what the InfraEnvs of hosts trust")
	require.Contains(t, s.send(http.MethodPatch, path, `{"fips":true}`).Reason(http.StatusBadRequest), "string")
	require.Equal(t, true, read()["fips"])
	s.want(http.StatusCreated, http.MethodPatch, path, `""`)
	require.Equal(t, false, read()["fips"])
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	s.send(http.MethodPatch, path, `"{}"`).Reason(http.StatusConflict)
}

func TestControllerReportsTheEndOfAnInstallation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID)
	completion := map[string]any{"is_success": true, "error_info": "", "data": map[string]any{"controller": map[string]any{"a": 1}}}
	require.Contains(
		t,
		s.send(http.MethodPost, path+"/actions/complete-installation", completion).Reason(http.StatusConflict),
		"insufficient",
	)
	s.send(http.MethodPost, path+"/uploads/ingress-cert", `"pem"`).Reason(http.StatusBadRequest)
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterFinalizing })

	s.want(http.StatusOK, http.MethodPut, path+"/progress", `{"finalizing_stage":"Adding router ca"}`)
	require.Equal(t, "Adding router ca", string(s.readCluster(c.ID).Progress.FinalizingStage))
	s.send(http.MethodPut, path+"/progress", `{"finalizing_stage":"Dancing"}`).Reason(http.StatusBadRequest)

	s.want(
		http.StatusOK,
		http.MethodPut,
		path+"/monitored-operators",
		`{"name":"console","status":"progressing","status_info":"soon","version":"4.22.9"}`,
	)
	list := s.want(http.StatusOK, http.MethodGet, path+"/monitored-operators", nil).List()
	require.Len(t, list, 1)
	require.Equal(t, "progressing", list[0]["status"])
	require.Equal(t, "4.22.9", list[0]["version"])
	require.Len(t, s.want(http.StatusOK, http.MethodGet, path+"/monitored-operators?operator_name=console", nil).List(), 1)
	s.send(http.MethodGet, path+"/monitored-operators?operator_name=other", nil).Reason(http.StatusNotFound)
	s.send(http.MethodPut, path+"/monitored-operators", `{"name":"other","status":"available"}`).Reason(http.StatusNotFound)
	s.send(http.MethodPut, path+"/monitored-operators", `{"status":"available"}`).Reason(http.StatusBadRequest)

	require.Equal(
		t,
		c.ID.String(),
		s.want(http.StatusAccepted, http.MethodPost, path+"/actions/complete-installation", completion).Object()["id"],
	)
	s.send(http.MethodPost, path+"/actions/complete-installation", `{}`).Reason(http.StatusBadRequest)
}
