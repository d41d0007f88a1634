package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/realinstall"
	"slipway/internal/wire"
)

// edge is how a user makes an install-config that the real openshift-install refused, and where the user learns it: from the refusal of
// the request (a part of its sentence), or from a validation of the cluster or of a host that fails (its id).
type edge struct {
	cluster    map[string]any // fields of the registration
	override   string         // of the install-config
	hosts      func(*service, wire.InfraEnv)
	refusal    string
	validation string
}

var vips = map[string]any{"api_vips": ips("192.0.2.5"), "ingress_vips": ips("192.0.2.6"), "machine_networks": cidrs("192.0.2.0/24")}

// withAddresses returns the fields of a cluster with virtual addresses, and changes of them.
func withAddresses(changes map[string]any) map[string]any {
	fields := maps.Clone(vips)
	maps.Copy(fields, changes)
	return fields
}

// edges are the recorded refusals (internal/testing/realinstall), by name.
var edges = map[string]edge{
	"edge-both-mirror-lists": {
		override: `{"imageDigestSources":[{"source":"quay.io/a","mirrors":["m.example.com/a"]}],` +
			`"imageContentSources":[{"source":"quay.io/a","mirrors":["m.example.com/a"]}]}`,
		refusal: "imageContentSources",
	},
	"edge-domain":              {cluster: map[string]any{"base_dns_domain": "example..com"}, refusal: "base_dns_domain"},
	"edge-duplicate-host-name": {hosts: several(func(_ int, i *wire.Inventory) { i.Hostname = "master-0" }), validation: "hostname-unique"},
	"edge-duplicate-mac": {
		cluster:    vips,
		hosts:      several(func(_ int, i *wire.Inventory) { i.Interfaces[0].MacAddress = "52:54:00:00:01:00" }),
		validation: "no-ip-collisions-in-network",
	},
	"edge-fips": {
		override: `{"fips":true,"sshKey":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBm0rbT3aVxH8f2ksR9i7d3m0bN2cYb1xJ7wQ0lqk3pE lab"}`,
		refusal:  "ed25519",
	},
	"edge-four-masters-one-host-less": {cluster: map[string]any{"control_plane_count": 4}, validation: "sufficient-masters-count"},
	"edge-host-prefix": {
		cluster: map[string]any{"cluster_networks": []any{map[string]any{"cidr": "10.128.0.0/24", "host_prefix": 23}}},
		refusal: "cluster_networks",
	},
	"edge-machine-in-cluster-network": {
		cluster: withAddresses(map[string]any{
			"machine_networks": cidrs("10.128.1.0/24"), "api_vips": ips("10.128.1.5"), "ingress_vips": ips("10.128.1.6"),
			"cluster_networks": []any{map[string]any{"cidr": "10.128.0.0/14", "host_prefix": 23}},
		}),
		validation: "no-cidrs-overlapping",
	},
	"edge-name": {cluster: map[string]any{"name": "Lab_1"}, refusal: "name"},
	"edge-networks-overlap": {
		cluster: withAddresses(map[string]any{
			"cluster_networks": []any{map[string]any{"cidr": "10.128.0.0/14", "host_prefix": 23}}, "service_networks": cidrs("10.128.0.0/16"),
		}),
		validation: "no-cidrs-overlapping",
	},
	"edge-no-baremetal-capability": {override: `{"capabilities":{"baselineCapabilitySet":"None"}}`, refusal: "baremetal"},
	"edge-no-proxy-only":           {override: `{"proxy":{"noProxy":"a.com"}}`, refusal: "proxy"},
	"edge-no-vip":                  {cluster: withAddresses(map[string]any{"api_vips": []any{}}), validation: "api-vips-defined"},
	"edge-proxy":                   {cluster: map[string]any{"http_proxy": "192.0.2.9:3128"}, refusal: "http_proxy"},
	"edge-pull-secret":             {cluster: map[string]any{"pull_secret": `{"auths":{}}`}, refusal: "pull_secret"},
	"edge-sdn":                     {cluster: map[string]any{"network_type": "OpenShiftSDN"}, refusal: "OpenShiftSDN"},
	"edge-ssh-key":                 {cluster: map[string]any{"ssh_public_key": "not a key"}, refusal: "ssh_public_key"},
	"edge-trust-bundle":            {override: `{"additionalTrustBundle":"nothing"}`, refusal: "additionalTrustBundle"},
	"edge-two-masters":             {cluster: map[string]any{"control_plane_count": 2}, validation: "sufficient-masters-count"},
	"edge-two-service-v4": {
		cluster: map[string]any{"service_networks": cidrs("172.30.0.0/16", "172.31.0.0/16")},
		refusal: "service_networks",
	},
	"edge-unknown-capability": {
		override: `{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["Nothing"]}}`, refusal: "baremetal",
	},
	"edge-vip-equal": {cluster: withAddresses(map[string]any{"ingress_vips": ips("192.0.2.5")}), refusal: "192.0.2.5"},
	"edge-vip-outside": {
		cluster:    withAddresses(map[string]any{"api_vips": ips("198.51.100.5")}),
		hosts:      several(func(int, *wire.Inventory) {}),
		validation: "api-vips-valid",
	},
	"edge-vips-v6-on-v4": {cluster: withAddresses(map[string]any{"api_vips": ips("2001:db8::5")}), refusal: "2001:db8::5"},
}

// elsewhere are refusals that no user of this service can cause, or that it does not foresee yet, with the reason.
var elsewhere = map[string]string{
	"edge-arbiter-default": "the service turns the feature on for a cluster with arbiters",
	"edge-vsphere-none":    "the service writes placeholders for a vCenter that is not given",
}

// several gives the cluster three hosts in the machine network.
func several(change func(int, *wire.Inventory)) func(*service, wire.InfraEnv) {
	return func(s *service, env wire.InfraEnv) {
		for n := range 3 {
			h := s.host(env.ID)
			s.changeHost(env.ID, h.ID, func(h *model.Host) {
				h.Inventory.Hostname = fmt.Sprintf("master-%d", n)
				h.Inventory.Interfaces = []wire.Interface{{
					Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:01:%02d", n), HasCarrier: true,
					Ipv4Addresses: []string{fmt.Sprintf("192.0.2.%d/24", 10+n)},
				}}
				change(n, h.Inventory)
			})
			s.want(http.StatusCreated, http.MethodPatch, hostPath(env.ID, h.ID), map[string]any{"host_role": "master"}) // evaluates the host
		}
	}
}

func TestRecordedRefusalsComeBeforeThePreparation(t *testing.T) {
	t.Parallel()
	var refused []string
	for _, c := range realinstall.Cases(t) {
		if strings.HasPrefix(c.Name, "edge-") && slices.ContainsFunc(c.Runs, func(r realinstall.Run) bool { return r.Exit != 0 }) {
			refused = append(refused, c.Name)
		}
	}
	require.ElementsMatch(t, refused, append(slices.Collect(maps.Keys(edges)), slices.Collect(maps.Keys(elsewhere))...))
	for name, e := range edges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			body := map[string]any{"name": "lab", "openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com"}
			maps.Copy(body, e.cluster)
			created := s.send(http.MethodPost, "/v2/clusters", body)
			if e.override == "" && e.refusal != "" {
				require.Contains(t, created.Reason(http.StatusBadRequest), e.refusal)
				return
			}
			require.Equal(t, http.StatusCreated, created.Status, "%s", created.Body)
			var c wire.Cluster
			created.JSON(&c)
			if e.override != "" {
				quoted, err := json.Marshal(e.override)
				require.NoError(t, err)
				got := s.send(http.MethodPatch, clusterPath(c.ID)+"/install-config", string(quoted))
				require.Contains(t, got.Reason(http.StatusBadRequest), e.refusal)
				return
			}
			env := s.infraEnv(c.ID)
			if e.hosts != nil {
				e.hosts(s, env)
			}
			read := s.readCluster(c.ID)
			verdicts := []string{verdict(t, read.ValidationsInfo, e.validation)}
			for _, h := range read.Hosts {
				verdicts = append(verdicts, verdict(t, h.ValidationsInfo, e.validation))
			}
			require.Contains(t, verdicts, "failure", e.validation)
		})
	}
}

// A cluster whose override fitted when it was set is not ready after a change, as its install-config can no longer be made.
func TestChangesThatTheOverrideDoesNotFitAnyMore(t *testing.T) {
	t.Parallel()
	const id = "custom-manifests-requirements-satisfied"
	for name, c := range map[string]struct {
		cluster, change map[string]any
		override        string
	}{
		"another platform": {
			override: `{"platform":{"baremetal":{"provisioningNetwork":"Disabled"}}}`,
			change:   map[string]any{"platform": map[string]any{"type": "none"}},
		},
		"another virtual address": {
			cluster: vips, override: `{"platform":{"baremetal":{"apiVIPs":["192.0.2.5"]}}}`, change: map[string]any{"api_vips": ips("192.0.2.7")},
		},
		"a smaller control plane": {
			cluster: map[string]any{"control_plane_count": 5}, override: `{"controlPlane":{"replicas":5}}`,
			change: map[string]any{"control_plane_count": 3},
		},
		"an operator without its lifecycle manager": {
			override: `{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["baremetal","MachineAPI","Ingress"]}}`,
			change:   map[string]any{"olm_operators": []any{map[string]any{"name": "lso"}}},
		},
		"another plug-in": {
			override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/16"}}}}`,
			change:   map[string]any{"network_type": "Calico"},
		},
		"pods for more nodes than the join subnet has addresses": {
			override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/22"}}}}`,
			change:   map[string]any{"cluster_networks": []any{map[string]any{"cidr": "10.128.0.0/12", "host_prefix": 23}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			body := map[string]any{"openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com", "name": "lab"}
			maps.Copy(body, c.cluster)
			var created wire.Cluster
			s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", body).JSON(&created)
			quoted, err := json.Marshal(c.override)
			require.NoError(t, err)
			path := clusterPath(created.ID) + "/install-config"
			s.want(http.StatusCreated, http.MethodPatch, path, string(quoted))
			require.Equal(t, "success", verdict(t, s.readCluster(created.ID).ValidationsInfo, id))
			s.want(http.StatusCreated, http.MethodPatch, clusterPath(created.ID), c.change)
			s.send(http.MethodGet, path, nil).Reason(http.StatusBadRequest)
			read := s.readCluster(created.ID)
			require.Equal(t, "failure", verdict(t, read.ValidationsInfo, id))
			require.Contains(t, read.ValidationsInfo, "Require an install-config that the installer accepts: install_config_overrides: ")
			s.want(http.StatusCreated, http.MethodPatch, path, `""`)
			require.NotContains(t, s.readCluster(created.ID).ValidationsInfo, "that the installer accepts")
		})
	}
}
