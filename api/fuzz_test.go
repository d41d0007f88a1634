package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// The fuzz targets send the requests of agents, users and their tools. None may panic or be answered with a fault of the service, now
// or when the cluster is evaluated with it. Their seeds are committed; `make fuzz` looks for more.

// fuzzed is a service with a cluster and a host to send things to.
type fuzzed struct {
	*service
	cluster wire.Cluster
	env     wire.InfraEnv
	host    wire.Host
}

func newFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	s := newService(f)
	z := &fuzzed{service: s, cluster: s.cluster(nil)}
	z.env = s.infraEnv(z.cluster.ID)
	z.host = s.host(z.env.ID)
	return z
}

// takes sends a request; t is the run of the fuzzer that a fault belongs to.
func (z *fuzzed) takes(t *testing.T, method, path string, body any) reply {
	t.Helper()
	here := *z.service
	here.t = t
	r := here.send(method, path, body)
	require.Less(t, r.Status, http.StatusInternalServerError, "%s", r.Body)
	return r
}

// evaluates has the rules look at the accepted input, and clients read it.
func (z *fuzzed) evaluates(t *testing.T) {
	t.Helper()
	require.NoError(t, z.evaluation.RefreshCluster(t.Context(), z.cluster.ID))
	require.Equal(t, http.StatusOK, z.takes(t, http.MethodGet, clusterPath(z.cluster.ID), nil).Status)
	z.takes(t, http.MethodGet, clusterPath(z.cluster.ID)+"/install-config", nil)
}

func (z *fuzzed) reply(t *testing.T, kind, output string, exitCode int) {
	t.Helper()
	r := z.takes(t, http.MethodPost, hostPath(z.env.ID, z.host.ID)+"/instructions", map[string]any{
		"step_type": kind, "step_id": kind + "-1", "exit_code": exitCode, "output": output, "error": "",
	})
	if r.Status == http.StatusNoContent {
		z.evaluates(t)
	}
}

// stepOutputs are outputs of steps as agents send them.
var stepOutputs = map[string]string{
	"inventory":                         `{"hostname":"a","cpu":{"count":4},"memory":{"physical_bytes":17179869184},"disks":[{"id":"x","size_bytes":1}]}`,
	"connectivity-check":                `{"remote_hosts":[{"host_id":"7a1d4f6c-9d55-4c9c-8a6a-0d2a3f5c0b6e","l2_connectivity":[{"remote_mac":"52:54:00:00:00:01","successful":true}]}]}`,
	"free-network-addresses":            `[{"network":"192.0.2.0/24","free_addresses":["192.0.2.1"]}]`,
	"dhcp-lease-allocate":               `{"api_vip_address":"192.0.2.5","ingress_vip_address":"192.0.2.6"}`,
	"api-vip-connectivity-check":        `{"is_success":true,"ignition":"{}"}`,
	"tang-connectivity-check":           `{"is_success":true,"tang_server_response":[{"payload":"x","tang_url":"http://t"}]}`,
	"ntp-synchronizer":                  `{"ntp_sources":[{"source_name":"n","source_state":"synced"}]}`,
	"installation-disk-speed-check":     `{"path":"/dev/sda","io_sync_duration":5}`,
	"container-image-availability":      `{"images":[{"name":"i","result":"success","size_bytes":1,"time":0.1,"download_rate":1}]}`,
	"domain-resolution":                 `{"resolutions":[{"domain_name":"api.x","ipv4_addresses":["192.0.2.1"]}]}`,
	"verify-vips":                       `[{"vip":"192.0.2.5","vip_type":"api","status":"succeeded"}]`,
	"logs-gather":                       `""`,
	"stop-installation":                 `""`,
	"image-write":                       `{"device":"/dev/sda"}`,
	"something-that-there-is-not-today": `{}`,
}

func FuzzStepReply(f *testing.F) {
	z := newFuzzed(f)
	for kind, output := range stepOutputs {
		f.Add(kind, output, 0)
		f.Add(kind, "{", 0)
		f.Add(kind, `null`, 0)
		f.Add(kind, `[null]`, 0)
		f.Add(kind, "", 256)
	}
	f.Fuzz(func(t *testing.T, kind, output string, exitCode int) { z.reply(t, kind, output, exitCode) })
}

func FuzzInventory(f *testing.F) {
	z := newFuzzed(f)
	sample, err := os.ReadFile("testdata/inventory.json")
	require.NoError(f, err)
	f.Add(sample)
	f.Add([]byte(`{"interfaces":[{"ipv4_addresses":["192.0.2.1/33"],"mac_address":"x"}],"routes":[{"destination":"::","family":2}]}`))
	f.Add([]byte(`{"disks":[{"iscsi":{"host_ip_address":"not one"},"drive_type":"iSCSI","holders":"dm-0"}],"gpus":[{}],"tpm_version":"9"}`))
	f.Fuzz(func(t *testing.T, inventory []byte) { z.reply(t, "inventory", string(inventory), 0) })
}

func FuzzManifest(f *testing.F) {
	z := newFuzzed(f)
	f.Add("manifests", "a.yaml", []byte("apiVersion: v1\nkind: ConfigMap\n---\nkind: Secret\n"))
	f.Add("openshift", "a.yaml.patch", []byte("- op: replace\n  path: /spec\n  value: 1\n"))
	f.Add("openshift", "../a.json", []byte(`{"kind":`))
	f.Add("", ".a b.yml", []byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, folder, name string, content []byte) {
		path := clusterPath(z.cluster.ID) + "/manifests"
		r := z.takes(t, http.MethodPost, path, map[string]any{
			"folder": folder, "file_name": name, "content": base64.StdEncoding.EncodeToString(content),
		})
		z.takes(t, http.MethodPost, path, map[string]any{"file_name": name, "content": string(content)})
		if r.Status == http.StatusCreated {
			require.Equal(t, http.StatusOK, z.takes(t, http.MethodGet, path, nil).Status)
			z.evaluates(t)
		}
	})
}

func FuzzInstallConfigOverrides(f *testing.F) {
	z := newFuzzed(f)
	for _, text := range []string{
		`{"fips":true}`, `{"networking":{"networkType":"Calico"}}`, `{"controlPlane":{"replicas":-1}}`, `{"platform":{"baremetal":null}}`,
		`[]`, `"{}"`,
		`{"imageDigestSources":[{"mirrors":["m"],"source":"s"}]}`, `{"additionalTrustBundle":"-----BEGIN CERTIFICATE-----"}`, "", `{"x":1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, overrides string) {
		text, err := json.Marshal(overrides)
		require.NoError(t, err)
		path := clusterPath(z.cluster.ID) + "/install-config"
		if z.takes(t, http.MethodPatch, path, string(text)).Status == http.StatusCreated {
			require.Equal(t, http.StatusOK, z.takes(t, http.MethodGet, path, nil).Status)
		}
	})
}

func FuzzIgnitionOverride(f *testing.F) {
	z := newFuzzed(f)
	for _, text := range []string{
		`{"ignition":{"version":"3.2.0"}}`, `{"ignition":{"version":"2.1.0"}}`, `{"ignition":{"version":"9.9.9"},"storage":null}`, "", "{",
		`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/x","contents":{"source":"data:,x"}}]}}`,
		`{"ignition":{"version":"3.4.0"},"systemd":{"units":[{"name":"a.service","contents":"["}]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, override string) {
		z.takes(t, http.MethodPatch, hostPath(z.env.ID, z.host.ID)+"/ignition", map[string]any{"config": override})
		environment := "/v2/infra-envs/" + z.env.ID.String()
		if z.takes(t, http.MethodPatch, environment, map[string]any{"ignition_config_override": override}).Status == http.StatusCreated {
			r := z.takes(t, http.MethodGet, environment+"/downloads/files?file_name=discovery.ign", nil)
			require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
		}
	})
}

func FuzzStaticNetwork(f *testing.F) {
	z := newFuzzed(f)
	const plain = "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  ipv4:\n    enabled: true\n    address:\n    - ip: " +
		"192.0.2.10\n      prefix-length: 24\n"
	f.Add(plain, "02:00:00:80:12:14", "eth0")
	f.Add(
		plain+"dns-resolver:\n  config:\n    server: [192.0.2.1]\nroutes:\n  config:\n  - destination: 0.0.0.0/0\n    next-hop-address: "+
			"192.0.2.1\n    next-hop-interface: eth0\n",
		"",
		"",
	)
	f.Add("interfaces:\n- name: bond0\n  type: bond\n  link-aggregation:\n    mode: active-backup\n    port: [eth0]\n", "x", "bond0")
	f.Add("interfaces: &a [*a]", "02:00:00:80:12:14", "eth0")
	f.Add("- 1", "02:00:00:80:12:14", "")
	f.Fuzz(func(t *testing.T, network, mac, nic string) {
		environment := "/v2/infra-envs/" + z.env.ID.String()
		r := z.takes(t, http.MethodPatch, environment, map[string]any{"static_network_config": []any{map[string]any{
			"network_yaml": network, "mac_interface_map": []any{map[string]any{"mac_address": mac, "logical_nic_name": nic}},
		}}})
		if r.Status == http.StatusCreated {
			require.Equal(t, http.StatusOK, z.takes(t, http.MethodGet, environment+"/downloads/files?file_name=discovery.ign", nil).Status)
			z.takes(t, http.MethodGet, environment+"/downloads/minimal-initrd", nil)
		}
	})
}

func FuzzParameters(f *testing.F) {
	z := newFuzzed(f)
	f.Add("limit", "-1", uuid.NewString())
	f.Add("order", "sideways", "not-a-uuid")
	f.Add("cluster_id", "%00", "\x00")
	f.Fuzz(func(t *testing.T, name, value, id string) {
		query := "?" + urlQuery(name, value)
		for _, path := range []string{
			"/v2/events", "/v2/clusters", "/v2/infra-envs", "/v2/openshift-versions", clusterPath(z.cluster.ID) + "/hosts",
		} {
			z.takes(t, http.MethodGet, path+query, nil)
		}
		z.takes(t, http.MethodGet, "/v2/clusters/"+urlPath(id), nil)
	})
}

func urlQuery(name, value string) string { return url.Values{name: {value}}.Encode() }

func urlPath(part string) string { return url.PathEscape(part) }
