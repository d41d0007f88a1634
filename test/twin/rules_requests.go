package twin

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// requestRules explain requests that one service accepts and the other refuses. Each looks at the body of the request.
var requestRules = []rule{
	refusedHere("K2", func(r request) bool {
		for _, name := range []string{"cluster_networks", "service_networks", "machine_networks"} {
			for _, p := range r.prefixes(name) {
				if p != p.Masked() {
					return true
				}
			}
		}
		return false
	}),
	refusedHere("K3", func(r request) bool {
		servers, _ := r.object("disk_encryption")["tang_servers"].(string)
		return servers == "[]"
	}),
	refusedHere("K4", func(r request) bool {
		noProxy, _ := r.body["no_proxy"].(string)
		return strings.Contains(noProxy, "*") && strings.Contains(noProxy, ",")
	}),
	refusedHere("K5", func(r request) bool {
		for _, item := range list(r.body["olm_operators"]) {
			if item.(map[string]any)["name"] == "console" {
				return true
			}
		}
		return false
	}),
	refusedHere("K6", func(r request) bool {
		networks := r.prefixes("service_networks")
		return len(networks) == 2 && networks[0].Addr().Is4() && networks[1].Addr().Is4()
	}),
	refusedHere("K7", func(r request) bool { return r.body["vip_dhcp_allocation"] == true }),
	refusedHere("K10", func(r request) bool {
		return strings.HasPrefix(r.path, "/v2/clusters") && (r.body["cluster_network_host_prefix"] != nil ||
			r.body["cluster_network_cidr"] != nil ||
			r.body["service_network_cidr"] != nil)
	}),
	refusedHere("K17", func(r request) bool {
		for i, p := range r.prefixes("cluster_networks") {
			size, ok := list(r.body["cluster_networks"])[i].(map[string]any)["host_prefix"].(float64)
			if ok && int(size) < p.Bits() && r.path == "/v2/clusters" {
				return true
			}
		}
		return false
	}),
	refusedHere("K20", func(r request) bool {
		for _, item := range list(r.body["kernel_arguments"]) {
			if item.(map[string]any)["value"] == "" {
				return true
			}
		}
		return false
	}),
	refusedHere("K21", func(r request) bool { return r.body["image_type"] == "disconnected-iso" && r.body["cluster_id"] == nil }),
	refusedHere("K25", func(r request) bool {
		return strings.HasSuffix(r.path, "/install-config") && strings.Contains(r.text, "fips")
	}),
	refusedHere("K34", func(r request) bool {
		return strings.HasSuffix(r.path, "/install-config") && strings.Contains(r.text, `"ssh-rsa AAAA"`)
	}),
	refusedThere("E28", func(r request) bool {
		for _, item := range list(r.body["cluster_networks"]) {
			if item.(map[string]any)["host_prefix"] == nil {
				return true
			}
		}
		return false
	}),
	refusedThere("E29", func(r request) bool { return r.body["openshift_version"] == "" }),
	refusedThere("E30", func(r request) bool { return r.body["ntp_sources"] == "a" || r.body["additional_ntp_sources"] == "a" }),
	refusedThere("E31", func(r request) bool {
		return r.body["rendezvous_ip"] != nil && r.body["image_type"] != "disconnected-iso"
	}),
	refusedThere("E32", func(r request) bool {
		external, _ := r.object("platform")["external"].(map[string]any)
		return external["platform_name"] == "oci" && external["cloud_controller_manager"] == nil
	}),
	refusedThere("E13", func(r request) bool {
		api, ingress := list(r.body["api_vips"]), list(r.body["ingress_vips"])
		return len(api)+len(ingress) > 0 && (len(api) != len(ingress) || r.outside(api) || r.outside(ingress))
	}),
	{"E13", vipFacts},
	refusedThere("E14", func(r request) bool {
		if r.path == "/v2/clusters" {
			return false
		}
		return overlap(r.prefixes("cluster_networks"), "172.30.0.0/16") || overlap(r.prefixes("service_networks"), "10.128.0.0/14")
	}),
	refusedThere("E15", func(r request) bool {
		// The other list is the default, of one network, unless the request gives it.
		pods, services := len(list(r.body["cluster_networks"])), len(list(r.body["service_networks"]))
		return max(pods, 1) != max(services, 1)
	}),
	refusedThere("E16", func(r request) bool {
		switch r.body["cpu_architecture"] {
		case "s390x", "ppc64le", "multi", "aarch64":
			return !strings.HasSuffix(fmt.Sprint(r.body["openshift_version"]), "-multi")
		}
		return false
	}),
	refusedThere("E17", func(r request) bool {
		return r.path != "/v2/clusters" && (r.object("platform")["type"] == "external" || r.body["control_plane_count"] == float64(1))
	}),
	refusedHere("E20", func(r request) bool {
		return strings.HasSuffix(r.path, "/install-config") && strings.Contains(r.text, `"metadata"`) && strings.Contains(r.text, `"name"`)
	}),
	{"E20", func(o outcome, d difference) bool {
		return d.path == "/install_config/metadata/name" && d.want == `"x"` && o.file == "install-config"
	}},
}

// overlap reports whether a network overlaps the default of the other list.
func overlap(networks []netip.Prefix, other string) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Overlaps(netip.MustParsePrefix(other)) })
}

// request is a recorded request, with the hosts of its case.
type request struct {
	path  string
	body  map[string]any
	text  string // of a body that is a string
	hosts []any
}

// refusedHere makes a rule for requests that Slipway refuses, refusedThere for requests that it accepts. What the case does with
// ids that then do not exist follows.
func refusedHere(id string, explain func(request) bool) rule {
	return rule{id, func(o outcome, d difference) bool {
		return d.want == "accepted" && d.got == "refused" && explained(o, d, explain)
	}}
}

func refusedThere(id string, explain func(request) bool) rule {
	return rule{id, func(o outcome, d difference) bool {
		return d.want == "refused" && d.got == "accepted" && explained(o, d, explain)
	}}
}

func explained(o outcome, d difference, explain func(request) bool) bool {
	index, err := strconv.Atoi(strings.TrimPrefix(d.path, "/requests/"))
	if err != nil {
		return false
	}
	return explain(o.request(index))
}

func (o outcome) request(index int) request {
	item := o.requests[index].([]any)
	out := request{path: item[1].(string), hosts: o.hosts}
	out.body, _ = item[2].(map[string]any)
	out.text, _ = item[2].(string)
	return out
}

func (r request) object(name string) map[string]any {
	object, _ := r.body[name].(map[string]any)
	return object
}

func (r request) prefixes(name string) []netip.Prefix {
	var out []netip.Prefix
	for _, item := range list(r.body[name]) {
		p, _ := netip.ParsePrefix(fmt.Sprint(item.(map[string]any)["cidr"]))
		out = append(out, p)
	}
	return out
}

// outside reports whether a VIP is in no network of the hosts.
func (r request) outside(vips []any) bool {
	for _, item := range vips {
		address, err := netip.ParseAddr(fmt.Sprint(item.(map[string]any)["ip"]))
		if err == nil && !r.near(address) {
			return true
		}
	}
	return false
}

func (r request) near(address netip.Addr) bool {
	for _, item := range r.hosts {
		replies, _ := item.(map[string]any)["replies"].(map[string]any)
		reply := list(replies["inventory"])
		if len(reply) < 2 {
			continue
		}
		inventory, _ := reply[1].(map[string]any)
		for _, nic := range list(inventory["interfaces"]) {
			for _, family := range []string{"ipv4_addresses", "ipv6_addresses"} {
				for _, text := range list(nic.(map[string]any)[family]) {
					if p, err := netip.ParsePrefix(fmt.Sprint(text)); err == nil && p.Contains(address) {
						return true
					}
				}
			}
		}
	}
	return false
}

// vipFacts explains what follows from VIPs that Slipway keeps: they are defined, and not valid.
func vipFacts(o outcome, d difference) bool {
	kept := false
	for i, item := range o.requests {
		if _, ok := item.([]any); !ok {
			continue
		}
		path := fmt.Sprintf("/requests/%d", i)
		r := o.request(i)
		if o.want[path] == "refused" && o.got[path] == "accepted" {
			kept = kept || r.outside(list(r.body["api_vips"])) || r.outside(list(r.body["ingress_vips"]))
		}
	}
	return kept && (matches(d, `^/cluster/validations/((api|ingress)-vips-(defined|valid)|machine-cidr-equals-to-calculated-cidr)$`) ||
		d.path == "/cluster/status" && d.want == `"pending-for-input"` && d.got == `"insufficient"`)
}
