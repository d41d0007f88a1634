package standin

import (
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ranges are networks of an install-config, with where they stand.
type ranges struct {
	path     *field.Path
	prefixes []netip.Prefix
}

// networksFit checks the networks against each other and against the networks of the network plugin.
func (r *run) networksFit(c *config) field.ErrorList {
	faults := r.networkTypeFits(c)
	at := field.NewPath("networking")
	cluster := ranges{path: at.Child("clusterNetwork")}
	machine := ranges{path: at.Child("machineNetwork")}
	service := ranges{path: at.Child("serviceNetwork")}
	add := func(to *ranges, cidr string) {
		p, err := netip.ParsePrefix(cidr)
		if err != nil || p.Masked() != p {
			faults = append(faults, field.Invalid(to.path, cidr, "must be a network in CIDR notation"))
			return
		}
		to.prefixes = append(to.prefixes, p)
	}
	for i, n := range c.Networking.ClusterNetwork {
		add(&cluster, n.CIDR)
		faults = append(faults, hostPrefixFits(cluster.path.Index(i).Child("hostPrefix"), n)...)
	}
	for _, n := range c.Networking.MachineNetwork {
		add(&machine, n.CIDR)
	}
	for _, cidr := range c.Networking.ServiceNetwork {
		add(&service, cidr)
	}
	if len(c.Networking.MachineNetwork) == 0 {
		faults = append(faults, field.Required(machine.path, "at least one machine network is required"))
	}
	for _, n := range []ranges{cluster, service} {
		if len(n.prefixes) == 0 {
			faults = append(faults, field.Required(n.path, "at least one network is required"))
		}
	}
	faults = append(faults, overlaps(machine, service, cluster)...)
	if r.minor >= 19 {
		faults = append(faults, r.pluginOverlaps(c, machine, service, cluster)...)
	}
	return append(faults, c.familiesFit(cluster, machine, service)...)
}

func (r *run) networkTypeFits(c *config) field.ErrorList {
	kind := c.Networking.NetworkType
	if kind == "OpenShiftSDN" && r.minor >= 16 || kind == "Kuryr" && r.minor >= 15 {
		return field.ErrorList{field.Invalid(field.NewPath("networking", "networkType"), kind, "networkType "+kind+
			" is not supported, please use OVNKubernetes")}
	}
	return nil
}

func hostPrefixFits(at *field.Path, n clusterNetwork) field.ErrorList {
	p, err := netip.ParsePrefix(n.CIDR)
	switch {
	case err != nil:
	case p.Addr().Is6() && n.HostPrefix != 64:
		return field.ErrorList{field.Invalid(at, n.HostPrefix, "cluster network host subnetwork prefix must be 64 for IPv6 networks")}
	case n.HostPrefix < p.Bits() || n.HostPrefix > p.Addr().BitLen():
		return field.ErrorList{field.Invalid(at, n.HostPrefix,
			"cluster network host subnetwork prefix must not be larger size than CIDR "+n.CIDR)}
	}
	return nil
}

// overlaps wants every network apart from every other.
func overlaps(machine, service, cluster ranges) field.ErrorList {
	var faults field.ErrorList
	refuse := func(at *field.Path, p netip.Prefix, what string, others []netip.Prefix, numbered bool) {
		for i, q := range others {
			switch {
			case !p.Overlaps(q):
			case numbered:
				faults = append(faults, field.Invalid(at, p.String(), fmt.Sprintf("%s %d", what, i)))
			default:
				faults = append(faults, field.Invalid(at, p.String(), what))
			}
		}
	}
	for i, p := range machine.prefixes {
		refuse(machine.path.Index(i), p, "machine network must not overlap with machine network", machine.prefixes[:i], true)
	}
	for i, p := range service.prefixes {
		at := service.path.Index(i)
		refuse(at, p, "service network must not overlap with any of the machine networks", machine.prefixes, false)
		refuse(at, p, "service network must not overlap with service network", service.prefixes[:i], true)
	}
	for i, p := range cluster.prefixes {
		at := cluster.path.Index(i).Child("cidr")
		refuse(at, p, "cluster network must not overlap with any of the machine networks", machine.prefixes, false)
		refuse(at, p, "cluster network must not overlap with service network", service.prefixes, true)
		refuse(at, p, "cluster network must not overlap with cluster network", cluster.prefixes[:i], true)
	}
	return faults
}

// pluginOverlaps refuses networks that overlap with the networks of OVN-Kubernetes inside a node.
func (r *run) pluginOverlaps(c *config, all ...ranges) field.ErrorList {
	if kind := c.Networking.NetworkType; kind != "" && kind != "OVNKubernetes" {
		return nil
	}
	join := "100.64.0.0/16"
	if own := c.Networking.OVNKubernetesConfig; own != nil && own.IPv4 != nil && own.IPv4.InternalJoinSubnet != "" {
		join = own.IPv4.InternalJoinSubnet
	}
	var faults field.ErrorList
	for name, cidr := range map[string]string{"join": join, "transit": "100.88.0.0/16", "masquerade": "169.254.0.0/17"} {
		reserved, err := netip.ParsePrefix(cidr)
		if err != nil {
			at := field.NewPath("networking", "ovnKubernetesConfig", "ipv4", "internalJoinSubnet")
			return field.ErrorList{field.Invalid(at, cidr, "must be a network")}
		}
		for _, n := range all {
			for i, p := range n.prefixes {
				if p.Overlaps(reserved) {
					faults = append(faults, field.Invalid(n.path.Index(i), p.String(), "must not overlap with OVN-Kubernetes "+name+" subnet "+cidr))
				}
			}
		}
	}
	return faults
}

// familiesFit wants pods and services to use the same families of addresses, nodes to have all of them, and
// IPv4 first where the platform does not allow another order.
func (c *config) familiesFit(cluster, machine, service ranges) field.ErrorList {
	pods, nodes, services := families(cluster), families(machine), families(service)
	dual := len(pods) == 2 || len(services) == 2
	var faults field.ErrorList
	if want := 1 + map[bool]int{true: 1}[dual]; len(service.prefixes) > want {
		faults = append(faults, field.Invalid(service.path, list(service.prefixes), "only one service network can be specified"))
	}
	for six := range services {
		if pods[six] == 0 || nodes[six] == 0 {
			faults = append(faults, field.Invalid(field.NewPath("networking"), "DualStack",
				"dual-stack: cluster, service and machine networks must have the same families"))
		}
	}
	if dual && len(services) == 1 {
		faults = append(faults, field.Invalid(service.path, "",
			"dual-stack: when installing dual-stack IPv4/IPv6 you must provide two service networks"))
	}
	p := c.Platform
	if dual && (p.None != nil || p.External != nil || p.Nutanix != nil) {
		for _, n := range []ranges{cluster, machine, service} {
			if len(n.prefixes) > 0 && n.prefixes[0].Addr().Is6() {
				faults = append(faults, field.Invalid(n.path, n.prefixes[0].String(), "IPv4 addresses must be listed before IPv6 addresses"))
			}
		}
	}
	return faults
}

// list writes networks as the real program does: 10.0.0.0/8, 172.16.0.0/12.
func list(prefixes []netip.Prefix) string {
	texts := make([]string, len(prefixes))
	for i, p := range prefixes {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

// families counts networks by whether they are of IPv6.
func families(n ranges) map[bool]int {
	found := map[bool]int{}
	for _, p := range n.prefixes {
		found[p.Addr().Is6()]++
	}
	return found
}
