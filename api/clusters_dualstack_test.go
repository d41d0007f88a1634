package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

func cidrs(list ...string) []any {
	out := make([]any, len(list))
	for i, cidr := range list {
		out[i] = map[string]any{"cidr": cidr}
	}
	return out
}

func ips(list ...string) []any {
	out := make([]any, len(list))
	for i, ip := range list {
		out[i] = map[string]any{"ip": ip}
	}
	return out
}

func TestFamiliesOfADualStackClusterKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, call := range map[string]struct {
		fields        map[string]any
		pods, service []string
	}{
		"IPv4 first": {
			map[string]any{"machine_networks": cidrs("192.0.2.0/24", "2001:db8::/64")},
			[]string{"10.128.0.0/14", "fd01::/48"},
			[]string{"172.30.0.0/16", "fd02::/112"},
		},
		"IPv6 first": {
			map[string]any{"machine_networks": cidrs("2001:db8::/64", "192.0.2.0/24"), "cluster_networks": cidrs("fd01::/48", "10.128.0.0/14")},
			[]string{"fd01::/48", "10.128.0.0/14"},
			[]string{"fd02::/112", "172.30.0.0/16"},
		},
		"IPv6 first by addresses": {
			map[string]any{"api_vips": ips("2001:db8::1", "192.0.2.1"), "ingress_vips": ips("2001:db8::2", "192.0.2.2")},
			[]string{"fd01::/48", "10.128.0.0/14"},
			[]string{"fd02::/112", "172.30.0.0/16"},
		},
		"IPv6 only by its address": {
			map[string]any{"api_vips": ips("2001:db8::1"), "ingress_vips": ips("2001:db8::2")},
			[]string{"fd01::/48"},
			[]string{"fd02::/112"},
		},
		"one address in two stacks": {
			map[string]any{
				"machine_networks": cidrs("192.0.2.0/24", "2001:db8::/64"), "api_vips": ips("192.0.2.1"), "ingress_vips": ips("192.0.2.2"),
			},
			[]string{"10.128.0.0/14", "fd01::/48"},
			[]string{"172.30.0.0/16", "fd02::/112"},
		},
	} {
		c := s.cluster(call.fields)
		var pods, service []string
		for _, n := range c.ClusterNetworks {
			pods = append(pods, n.Cidr)
		}
		for _, n := range c.ServiceNetworks {
			service = append(service, n.Cidr)
		}
		require.Equal(t, call.pods, pods, name)
		require.Equal(t, call.service, service, name)
	}
}

func TestDualStackListsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{
		"machine_networks": cidrs("192.0.2.0/24", "2001:db8::/64"),
		"api_vips":         ips("192.0.2.1", "2001:db8::1"), "ingress_vips": ips("192.0.2.2", "2001:db8::2"),
	})
	for name, call := range map[string]struct{ body, want string }{
		"machine networks in the other order": {
			`{"machine_networks":[{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}]}`,
			"machine_networks: require IPv4 first as in cluster_networks",
		},
		"service networks in the other order": {
			`{"service_networks":[{"cidr":"fd02::/112"},{"cidr":"172.30.0.0/16"}]}`, "service_networks: require IPv4 first",
		},
		"API addresses in the other order":    {`{"api_vips":[{"ip":"2001:db8::1"},{"ip":"192.0.2.1"}]}`, "api_vips: require IPv4 first"},
		"two addresses of one family":         {`{"api_vips":[{"ip":"192.0.2.1"},{"ip":"192.0.2.3"}]}`, "at most one value for IPv4"},
		"one family for API, one for ingress": {`{"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"2001:db8::2"}]}`, "one family"},
		"an address of no machine": {
			`{"api_vips":[{"ip":"224.0.0.1"}],"ingress_vips":[{"ip":"192.0.2.2"}]}`, "address of a machine",
		},
		"a machine network twice":     {`{"machine_networks":[{"cidr":"192.0.2.0/24"},{"cidr":"192.0.2.0/24"}]}`, "twice"},
		"a load balancer of the user": {`{"load_balancer":{"type":"user-managed"}}`, "USER_MANAGED_LOAD_BALANCER"},
		"a virtual machine platform": {
			`{"platform":{"type":"external","external":{"platform_name":"oci"}},"api_vips":[{"ip":"192.0.2.1"}]}`,
			"user-managed networking",
		},
	} {
		require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), call.body).Reason(http.StatusBadRequest), call.want, name)
	}
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{
		"machine_networks": cidrs("2001:db8::/64", "192.0.2.0/24"), "cluster_networks": cidrs("fd01::/48", "10.128.0.0/14"),
		"service_networks": cidrs("fd02::/112", "172.30.0.0/16"),
		"api_vips":         ips("2001:db8::1", "192.0.2.1"), "ingress_vips": ips("2001:db8::2", "192.0.2.2"),
	})
	require.Equal(t, wire.IP("2001:db8::1"), s.readCluster(c.ID).APIVips[0].IP)
}
