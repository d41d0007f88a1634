package api_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/testing/httpclient"
	"slipway/internal/wire"
)

func TestSettingsOfAnInfraEnvComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	settings := map[string]any{
		"proxy":                  map[string]any{"http_proxy": "http://proxy.example:3128", "no_proxy": "example.com"},
		"additional_ntp_sources": "ntp.example.com", "ssh_authorized_key": sshKey, "rendezvous_ip": "192.0.2.7",
		"ignition_config_override":        `{"ignition":{"version":"3.1.0"}}`,
		"network_discovery_delay_seconds": 30, "openshift_version": "4.22.1", "additional_trust_bundle": "",
	}
	body := map[string]any{"name": "env", "pull_secret": pullSecret, "image_type": "minimal-iso", "cpu_architecture": "arm64"}
	for key, value := range settings {
		body[key] = value
	}
	created := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).Object()
	other := s.infraEnv(uuid.Nil)
	s.want(http.StatusCreated, http.MethodPatch, "/v2/infra-envs/"+other.ID.String(), settings)
	changed := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+other.ID.String(), nil).Object()
	delete(settings, "additional_trust_bundle") // empty values are left out
	for field, sent := range settings {
		require.Equal(t, plain(t, sent), created[field], field)
		require.Equal(t, plain(t, sent), changed[field], field)
	}
	require.Equal(t, "http://service.example:8090/byid/"+created["id"].(string)+"/4.22.1/arm64/minimal.iso", created["download_url"])
	require.Equal(t, true, created["pull_secret_set"])
	require.NotContains(t, created, "pull_secret")
}

func TestInfraEnvOfAClusterTakesItsSettings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"cpu_architecture": "arm64"})
	e := s.infraEnv(c.ID)
	require.Equal(t, c.ID, e.ClusterID)
	require.Equal(t, "arm64", string(e.CPUArchitecture))
	require.Equal(t, "4.22.9", e.OpenshiftVersion)
	body := map[string]any{"name": "x", "pull_secret": pullSecret, "cluster_id": c.ID, "cpu_architecture": "x86_64"}
	require.Contains(t, s.send(http.MethodPost, "/v2/infra-envs", body).Reason(http.StatusBadRequest), "require arm64")
	body["cluster_id"] = uuid.New()
	s.send(http.MethodPost, "/v2/infra-envs", body).Reason(http.StatusNotFound)
}

func TestInfraEnvsAreListedByCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs", nil).Body))
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	s.infraEnv(uuid.Nil)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs", nil).List(), 2)
	list := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs?cluster_id="+c.ID.String(), nil).List()
	require.Len(t, list, 1)
	require.Equal(t, e.ID.String(), list[0]["id"])
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs?owner=somebody", nil).List())
}

func TestSettingsOfAnInfraEnvThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	path := "/v2/infra-envs/" + s.infraEnv(uuid.Nil).ID.String()
	for name, call := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"an override of air":            {`{"ignition_config_override":"{}"}`, 400, "ignition_config_override"},
		"certificates that are invalid": {`{"additional_trust_bundle":"hello"}`, 400, "additional_trust_bundle"},
		"a meeting point of air":        {`{"rendezvous_ip":"here"}`, 400, "rendezvous_ip"},
		"a network that is no YAML": {
			`{"static_network_config":[{"network_yaml":"a: [","mac_interface_map":[{"mac_address":"52:54:00:aa:bb:01","logical_nic_name":"eth0"}]}]}`,
			400, "network_yaml",
		},
		"one address for two hosts": {`{"static_network_config":[` + staticHost + `,` + staticHost + `]}`, 400, "52:54:00:aa:bb:01"},
		"a kernel argument of quotes": {
			`{"kernel_arguments":[{"operation":"append","value":"a\"b"}]}`, 400, "kernel_arguments.0.value",
		},
		"a network that is not supported": {
			`{"static_network_config":[` + strings.Replace(staticHost, "ethernet", "ovs-bridge", 1) + `]}`, 400,
			"static_network_config[0].network_yaml: interfaces[0].type: require one of",
		},
		"hosts without MAC addresses":   {`{"static_network_config":[{"network_yaml":"interfaces: []"}]}`, 400, "mac_interface_map"},
		"a kernel argument of blanks":   {`{"kernel_arguments":[{"operation":"append","value":"a b"}]}`, 400, "kernel_arguments.0.value"},
		"an empty kernel argument":      {`{"kernel_arguments":[{"operation":"append","value":""}]}`, 400, "kernel_arguments.0.value"},
		"no kernel argument at all":     {`{"kernel_arguments":[{"operation":"append"}]}`, 400, "kernel_arguments[0].value"},
		"no operation":                  {`{"kernel_arguments":[{"value":"a"}]}`, 400, "kernel_arguments[0].operation"},
		"an operation there is not":     {`{"kernel_arguments":[{"operation":"add","value":"a"}]}`, 400, "append"},
		"a replacement of nothing":      {`{"kernel_arguments":[{"operation":"replace","value":"a=b"}]}`, 400, "require KEY=OLD=NEW"},
		"two lists of time sources":     {`{"ntp_sources":"a.example","additional_ntp_sources":"b.example"}`, 400, "only one of them"},
		"a delay into the past":         {`{"network_discovery_delay_seconds":-1}`, 400, "network_discovery_delay_seconds"},
		"another cluster":               {`{"cluster_id":"` + uuid.NewString() + `"}`, 400, "cluster_id"},
		"another kind of image":         {`{"image_type":"floppy"}`, 400, "full-iso"},
		"a version that is unavailable": {`{"openshift_version":"3.11"}`, 400, "4.22.9"},
		"a proxy that is invalid":       {`{"proxy":{"https_proxy":"proxy"}}`, 400, "https_proxy"},
		"a key that is invalid":         {`{"ssh_authorized_key":"hello"}`, 400, "ssh_authorized_key"},
		"a pull secret that is invalid": {`{"pull_secret":"hello"}`, 400, "pull_secret"},
		"a time source that is invalid": {`{"ntp_sources":"a b"}`, 400, "ntp_sources"},
	} {
		require.Contains(t, s.send(http.MethodPatch, path, call.body).Reason(call.status), call.want, name)
	}
}

const staticHost = `{"network_yaml":"interfaces: [{name: eth0, type: ethernet, ipv4: {enabled: true, dhcp: true}}]","mac_interface_map":[{"mac_address":"52:54:00:AA:BB:01","logical_nic_name":"eth0"}]}`

func TestDiscoveryIgnitionFetchesTheAgentFromTheServiceAndChecksItsHash(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{"slipway-agent-x86_64": {Data: []byte("agent program")}, "secrets": {Data: []byte("x")}}
	s := newService(t, func(o *api.Options) { o.AgentBinaries = fs.FS(folder) })
	e := s.infraEnv(uuid.Nil)
	config := string(
		s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/downloads/files?file_name=discovery.ign", nil).Body,
	)
	parsed, err := document.Parse([]byte(config))
	require.NoError(t, err)
	fetch, err := parsed.File("/usr/local/bin/slipway-agent-fetch")
	require.NoError(t, err)
	script, err := fetch.Content()
	require.NoError(t, err)
	require.Contains(t, string(script), "'http://service.example:8090/agent/slipway-agent-x86_64'")
	require.Contains(t, string(script), fmt.Sprintf("%x", sha256.Sum256([]byte("agent program"))))

	got := s.agentFile("slipway-agent-x86_64")
	require.Equal(t, http.StatusOK, got.Status)
	require.Equal(t, "agent program", string(got.Body))
	require.Equal(t, http.StatusNotFound, s.agentFile("secrets").Status)
	require.Equal(t, http.StatusNotFound, s.agentFile("slipway-agent-s390x").Status)
	require.Equal(t, http.StatusNotFound, s.agentFile("..%2fsecrets").Status)

	body := map[string]any{"name": "x", "pull_secret": pullSecret, "cpu_architecture": "s390x"}
	id := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).Object()["id"].(string)
	require.Equal(
		t,
		"discovery config of infra-env x cannot be made: the service has no program for s390x: slipway-agent-s390x is missing beside it; "+
			"build it with make build, or name its folder in SLIPWAY_AGENT_BINARIES",
		s.send(http.MethodGet, "/v2/infra-envs/"+id+"/downloads/files?file_name=discovery.ign", nil).Reason(http.StatusConflict),
	)
}

func TestHostsGetTheAgentOfTheirArchitecture(t *testing.T) {
	t.Parallel()
	built := map[string]string{
		"x86_64": "slipway-agent-amd64", "arm64": "slipway-agent-arm64", "ppc64le": "slipway-agent-ppc64le", "s390x": "slipway-agent-s390x",
	}
	folder := fstest.MapFS{}
	for architecture, name := range built {
		folder[name] = &fstest.MapFile{Data: []byte("agent of " + architecture)}
	}
	s := newService(t, func(o *api.Options) { o.AgentBinaries = fs.FS(folder) })
	for architecture, name := range built {
		body := map[string]any{"name": "x", "pull_secret": pullSecret, "cpu_architecture": architecture}
		id := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).Object()["id"].(string)
		config, err := document.Parse(
			s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+id+"/downloads/files?file_name=discovery.ign", nil).Body,
		)
		require.NoError(t, err)
		fetch, err := config.File("/usr/local/bin/slipway-agent-fetch")
		require.NoError(t, err)
		script, err := fetch.Content()
		require.NoError(t, err)
		require.Contains(t, string(script), "'http://service.example:8090/agent/"+name+"'")
		require.Contains(t, string(script), fmt.Sprintf("%x", sha256.Sum256([]byte("agent of "+architecture))))
		require.Equal(t, "agent of "+architecture, string(s.agentFile(name).Body))
	}
}

func TestControllerProgramsAreServedByArchitectureWithTheirHashes(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		"slipway-controller-amd64": {Data: []byte("for x86_64")}, "slipway-controller-arm64": {Data: []byte("for arm64")},
		"slipway": {Data: []byte("x")},
	}
	s := newService(t, func(o *api.Options) { o.AgentBinaries = fs.FS(folder) })
	get := func(file string) reply {
		response, err := httpclient.New(t).Get(s.url + "/controller/" + file)
		require.NoError(t, err)
		return httpclient.Read(t, response)
	}
	// The machine names of Linux (uname -m), by which the Job of a new cluster asks.
	require.Equal(t, "for x86_64", string(get("slipway-controller-x86_64").Body))
	require.Equal(t, "for arm64", string(get("slipway-controller-aarch64").Body))
	require.Equal(t, fmt.Sprintf("%x\n", sha256.Sum256([]byte("for arm64"))), string(get("slipway-controller-aarch64.sha256").Body))
	require.Equal(t, http.StatusNotFound, get("slipway-controller-s390x").Status)
	require.Equal(t, http.StatusNotFound, get("slipway").Status)

	programs, err := api.ControllerPrograms(folder)()
	require.NoError(t, err)
	require.Equal(t, wire.AgentProgram{
		Path: "/controller/slipway-controller-amd64", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("for x86_64"))),
	}, programs["x86_64"])
	require.NotContains(t, programs, "s390x")
}

// agentFile downloads a program of the agent, which is not below the base path.
func (s *service) agentFile(name string) reply {
	s.t.Helper()
	response, err := httpclient.New(s.t).Get(s.url + "/agent/" + name)
	require.NoError(s.t, err)
	return httpclient.Read(s.t, response)
}

func TestAddressOfTheImageFollowsItsTypeAndVersion(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	at := "http://service.example:8090/byid/" + e.ID.String()
	require.Equal(t, at+"/4.22.9/x86_64/full.iso", e.DownloadURL)
	for body, want := range map[string]string{
		// the image of that version, whichever it is
		`{"image_type":"minimal-iso","openshift_version":"4.16"}`:        "/4.16/x86_64/minimal.iso",
		`{"image_type":"disconnected-iso","openshift_version":"4.22.1"}`: "/4.22.1/x86_64/disconnected.iso",
	} {
		require.Equal(t, at+want, s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), body).Object()["download_url"])
	}
}

func TestAddressOfTheImageIsTold(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	got := s.want(http.StatusOK, http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/downloads/image-url", nil).Object()
	require.Equal(t, e.DownloadURL, got["url"])
	require.Equal(t, "0001-01-01T00:00:00.000Z", got["expires_at"])
	stored, err := s.store.InfraEnv(t.Context(), e.ID)
	require.NoError(t, err)
	require.NotEqual(t, model.Secret(""), stored.TokenKey)
}
