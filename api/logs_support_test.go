package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/tartest"
)

func TestAllLogsComeWithTheClusterItsEventsAndItsManifests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{
		"http_proxy": "http://joe:pass-of-the-proxy@p.example.com:3128", "no_proxy": "example.com",
	})
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	path := clusterPath(c.ID)
	const ours, theirs = "# a comment\nkind: ConfigMap\nmetadata: {name: a}\n", `{"kind":"ConfigMap","metadata":{"name":"b"}}`
	for _, m := range []map[string]any{
		{"file_name": "a.yaml", "folder": "openshift", "content": encoded(ours)},
		{"file_name": "b.json", "content": encoded(theirs)},
		{"file_name": "c.yml", "content": encoded("kind: Secret\nmetadata: {name: c}\nstringData: {key: pass-of-a-manifest}\n")},
	} {
		s.want(http.StatusCreated, http.MethodPost, path+"/manifests", m)
	}
	s.want(http.StatusCreated, http.MethodPatch, path+"/install-config",
		`"{\"platform\":{\"baremetal\":{\"hosts\":[{\"bmc\":{\"password\":\"pass-of-bmc\"}}]}}}"`)
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	for _, query := range []string{"", "?logs_type=all"} {
		got := s.want(http.StatusOK, http.MethodGet, path+"/logs"+query, nil)
		for _, secret := range []string{"dXNlcjpwYXNzd29yZAo", "pass-of-the-proxy", "pass-of-a-manifest", "pass-of-bmc", "pull_secret\":"} {
			require.NotContains(t, string(got.Body), secret)
		}
		files := tartest.Files(t, got.Body)
		require.Len(t, files, 5)
		require.Equal(t, ours, files["cluster_manifest_user_openshift_a.yaml"])
		require.Equal(t, theirs, files["cluster_manifest_user_manifests_b.json"])
		require.Equal(t, "# [redacted]: a manifest with a Secret is not part of the logs\n", files["cluster_manifest_user_manifests_c.yml"])
		var metadata struct {
			ID, Status, Name string
			Hosts            []struct{ ID string }
		}
		require.NoError(t, json.Unmarshal([]byte(files["cluster_metadata.json"]), &metadata))
		require.Equal(t, []string{c.ID.String(), "installed", "prod"}, []string{metadata.ID, metadata.Status, metadata.Name})
		require.Len(t, metadata.Hosts, 1)
		require.Equal(t, h.ID.String(), metadata.Hosts[0].ID)
		var events []map[string]any
		require.NoError(t, json.Unmarshal([]byte(files["cluster_events.json"]), &events))
		require.NotEmpty(t, events)
		require.Equal(t, c.ID.String(), events[0]["cluster_id"])
		require.Equal(t, "cluster_registration_succeeded", events[0]["name"])
	}
}

// A cluster that cannot be prepared has no other log.
func TestAllLogsComeWithTheOutputOfTheInstaller(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"https_proxy": "http://joe:pass-of-the-proxy@p.example.com:3128"})
	path := clusterPath(c.ID)
	s.want(http.StatusCreated, http.MethodPatch, path+"/install-config",
		`"{\"platform\":{\"baremetal\":{\"hosts\":[{\"bmc\":{\"password\":\"pass-of-bmc\"}}]}}}"`)
	const output = "level=error msg=failed to load asset\n" +
		"proxy.httpsProxy: Invalid value: \"http://joe:pass-of-the-proxy@p.example.com:3128\"\n" +
		"platform.baremetal.hosts[0].bmc: Invalid value: \"pass-of-bmc\"\n"
	_, err := s.blob.PutSecret(t.Context(), "clusters/"+c.ID.String()+"/installer.log", []byte(output))
	require.NoError(t, err)
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = model.ClusterError })
	files := tartest.Files(t, s.want(http.StatusOK, http.MethodGet, path+"/logs", nil).Body)
	require.Equal(t, "level=error msg=failed to load asset\nproxy.httpsProxy: Invalid value: \"http://[redacted]@p.example.com:3128\"\n"+
		"platform.baremetal.hosts[0].bmc: Invalid value: \"[redacted]\"\n", files["installer.log"])
}

func TestManifestsThatAreGoneAreLeftOutOfTheLogs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	path := clusterPath(c.ID)
	s.want(http.StatusCreated, http.MethodPost, path+"/manifests", map[string]any{"file_name": "a.yaml", "content": encoded("a: 1\n")})
	require.NoError(t, s.blob.Delete(t.Context(), "clusters/"+c.ID.String()+"/manifests/manifests/a.yaml"))
	require.Len(t, tartest.Files(t, s.want(http.StatusOK, http.MethodGet, path+"/logs", nil).Body), 2)
	s.send(http.MethodGet, path+"/logs?logs_type=controller", nil).Reason(http.StatusNotFound)
}
