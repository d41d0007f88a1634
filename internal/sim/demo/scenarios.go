package demo

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"slipway/internal/sim/hardware"
	"slipway/internal/sim/site"
	"slipway/internal/wire"
)

// scenario is a kind of cluster to show, on a network of its own.
type scenario struct {
	name string
	what string // for help and documentation
	make func(*planner)
}

// scenarios are in the order in which their networks are numbered, from 192.168.111.0/24 on.
var scenarios = []scenario{
	{"ha", "three masters and two workers", func(p *planner) {
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.virtualAddresses()
		p.claims = []claim{freeMetal(len(p.hosts))}
	}},
	{"sno", "a single node", func(p *planner) {
		p.single("sno")
	}},
	{"compact", "three masters that are the workers too", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
	}},
	{"arbiter", "two masters, and a small third host for the votes of etcd", func(p *planner) {
		p.controlPlane(2)
		p.add("arbiter", hardware.Arbiter, 1, 60)
		p.virtualAddresses()
	}},
	{"late-binding", "hosts that wait in a pool and are bound to the cluster while they are discovered", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
		p.lateBinding = true
	}},
	{"day-2", "a compact cluster that two workers are added to once it is installed", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
		p.add("worker", hardware.Worker, 2, 120)
		p.hosts, p.added = p.hosts[:3], p.hosts[3:]
		p.resolve() // hosts that join reach the cluster by its names
	}},
	{"dual-stack", "three masters and two workers with IPv4 and IPv6", func(p *planner) {
		p.six = fmt.Sprintf("fd00:%d::", p.number)
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.virtualAddresses()
		p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
			c.MachineNetworks = &[]wire.MachineNetwork{{Cidr: p.network + ".0/24"}, {Cidr: p.six + "/64"}}
		})
	}},
	{"user-managed-networking", "three masters and two workers behind a load balancer and DNS of the user", func(p *planner) {
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
			managed := true
			c.UserManagedNetworking = &managed
		})
		p.resolve()
	}},
	{"vsphere", "three masters and two workers on VMware, whose credentials are set after the installation", func(p *planner) {
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.virtualAddresses()
		p.on("vsphere", "VMware, Inc.", "VMware7,1")
		p.claims = append(withoutMachines(), hasPlatform("VSphere"), withoutProvider)
	}},
	{"nutanix", "three masters on Nutanix, whose credentials are in the install-config", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
		p.on("nutanix", "Nutanix", "AHV")
		p.override = `{"platform":{"nutanix":{"prismCentral":{"username":"admin","password":"a secret"}}}}`
		p.cloud = true
		p.claims = append(withoutMachines(), hasPlatform("Nutanix"), withProvider)
	}},
	{"external", "three masters in Oracle's cloud, whose controller is among the manifests of the user", func(p *planner) {
		p.controlPlane(3)
		p.on("external", "OracleCloud.com", "VM.Standard.E4.Flex")
		p.resolve()
		p.manifests = map[string]string{"oci-ccm.yaml": oracleController}
		p.cloud = true
		p.claims = []claim{
			hasPlatform("External"), has("apps/v1/daemonsets", "oci-cloud-controller-manager", "oci-cloud-controller-manager"), withProvider,
		}
	}},
	{"none", "three masters on no platform, with two networks of which one leads out", func(p *planner) {
		p.controlPlane(3)
		p.storageNetwork()
		p.on("none", "", "")
		p.resolve()
		p.claims = []claim{hasPlatform("None"), addressesIn(p.network + ".0/24")}
	}},
	{"okd", "three masters with OKD, and no pull secret of Red Hat's", func(p *planner) {
		p.of(release{version: okdVersion})
		p.controlPlane(3)
		p.virtualAddresses()
		p.claims = []claim{hasField(clusterVersions, "", "version", okdVersion, "status", "desired", "version")}
	}},
	{"fips", "a single node in FIPS mode, which only a service refuses that cannot run its installer", func(p *planner) {
		p.single("fips")
		p.override, p.refusal = `{"fips":true}`, "a service that runs on RHEL 9 in FIPS mode is required"
		p.environment = []string{"INSTALLER_ENVIRONMENT=OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true"}
		p.claims = []claim{
			hasField(machineConfigs, "", "99-master-fips", "true", "spec", "fips"),
			hasField(machineConfigs, "", "99-worker-fips", "true", "spec", "fips"),
		}
	}},
	{"arm64", "a single node of another architecture than the service's", func(p *planner) {
		p.of(release{version: version, architecture: "arm64"})
		p.single("arm64")
		for n := range p.hosts {
			p.hosts[n].spec.Architecture, p.hosts[n].spec.CPUModel = "aarch64", "Neoverse-N1"
		}
		p.claims = []claim{eachNode("a node of arm64", func(n *corev1.Node) bool { return n.Labels[corev1.LabelArchStable] == "arm64" })}
	}},
	{"odf", "three masters that run workloads and store data for them", func(p *planner) {
		p.large()
		p.operators("odf")
		p.claims = []claim{
			has(subscriptions, "openshift-storage", "odf-operator"), has(subscriptions, "openshift-local-storage", "local-storage-operator"),
			has("local.storage.openshift.io/v1alpha1/localvolumesets", "openshift-local-storage", "local-disks"),
			hasField("ocs.openshift.io/v1/storageclusters", "openshift-storage", "ocs-storagecluster", "true", "spec", "flexibleScaling"),
		}
	}},
	{"cnv", "three masters that run virtual machines", func(p *planner) {
		p.large()
		p.operators("cnv")
		p.claims = []claim{
			has(subscriptions, "openshift-cnv", "hco-operatorhub"),
			has("hco.kubevirt.io/v1beta1/hyperconvergeds", "openshift-cnv", "kubevirt-hyperconverged"),
		}
	}},
}

// oracleController stands for the manifests of Oracle's cloud controller manager (oracle/oci-cloud-controller-manager).
const oracleController = `apiVersion: v1
kind: Namespace
metadata:
  name: oci-cloud-controller-manager
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: oci-cloud-controller-manager
  namespace: oci-cloud-controller-manager
`

// Kinds of objects that claims name, as in URLs.
const (
	clusterVersions = "config.openshift.io/v1/clusterversions"
	infrastructures = "config.openshift.io/v1/infrastructures"
	machineConfigs  = "machineconfiguration.openshift.io/v1/machineconfigs"
	subscriptions   = "operators.coreos.com/v1alpha1/subscriptions"
)

// Claims about the machines of a cloud: only a cloud controller manager knows which one a node is.
var (
	withProvider    = eachNode("nodes that the cloud initialized", func(n *corev1.Node) bool { return n.Spec.ProviderID != "" })
	withoutProvider = eachNode("nodes that no cloud initialized", func(n *corev1.Node) bool { return n.Spec.ProviderID == "" })
)

func hasPlatform(name string) claim {
	return hasField(infrastructures, "", "cluster", name, "spec", "platformSpec", "type")
}

// ScenarioNames lists the names that --scenario takes.
func ScenarioNames() []string {
	names := make([]string, len(scenarios))
	for i, s := range scenarios {
		names[i] = s.name
	}
	return names
}

// planScenario makes the plan of a scenario.
func planScenario(name string) (clusterPlan, error) {
	n := slices.Index(ScenarioNames(), name)
	if n < 0 {
		return clusterPlan{}, fmt.Errorf("read --scenario: require some of %s, found %q", strings.Join(ScenarioNames(), ", "), name)
	}
	p := newPlanner("demo-"+name, 111+n)
	if n == 0 {
		p.Name = "demo"
	}
	scenarios[n].make(p)
	return p.clusterPlan, nil
}

// planner makes the machines of a plan.
type planner struct {
	clusterPlan
	number  int
	network string // its first three bytes
	six     string // the IPv6 network of dual stack, without the host part
}

func newPlanner(name string, number int) *planner {
	p := &planner{number: number, network: fmt.Sprintf("192.168.%d", number), clusterPlan: clusterPlan{
		Cluster: site.Cluster{Name: name, Domain: domain},
	}}
	p.of(release{version: version})
	return p
}

// of installs a release.
func (p *planner) of(r release) { p.release, p.Version = r, r.version }

// controlPlane adds the masters.
func (p *planner) controlPlane(count int) {
	p.ControlPlane = count
	p.add("master", hardware.Master, count, 20)
}

// on puts the cluster on a platform, and marks its machines as the platform's.
func (p *planner) on(platform, vendor, product string) {
	for n := range p.hosts {
		switch spec := &p.hosts[n].spec; platform {
		case "vsphere", "nutanix":
			spec.Vendor, spec.Product = vendor, product
		case "external":
			spec.Vendor, spec.Product, spec.AssetTag = "QEMU", product, vendor
		}
	}
	p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
		managed := platform == "none" || platform == "external"
		c.Platform, c.UserManagedNetworking = &wire.Platform{Type: wire.PlatformType(platform)}, &managed
		if platform == "external" {
			c.Platform.External = wire.PlatformExternal{PlatformName: "oci", CloudControllerManager: "External"}
		}
	})
}

// storageNetwork gives the machines a NIC, their first, in a network that has no way out.
func (p *planner) storageNetwork() {
	for n := range p.hosts {
		spec := &p.hosts[n].spec
		storage := spec.NICs[0]
		spec.NICs[0].Name = "eno2"
		last := spec.NICs[0].Addresses[0].Addr().As4()[3]
		storage.MAC = "06" + storage.MAC[2:]
		storage.Addresses = []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.%d.%d/24", p.number, last))}
		spec.NICs = append([]hardware.NIC{storage}, spec.NICs...)
	}
}

// large plans a compact cluster with room for operators.
func (p *planner) large() {
	p.ControlPlane = 3
	p.add("master", hardware.Large, 3, 20)
	p.virtualAddresses()
}

// operators chooses operators of OLM.
func (p *planner) operators(names ...string) {
	p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
		var chosen []wire.OperatorCreateParams
		for _, name := range names {
			chosen = append(chosen, wire.OperatorCreateParams{Name: &name})
		}
		c.OlmOperators = &chosen
	})
}

// resolve has the user's DNS know the names of the cluster.
func (p *planner) resolve() {
	p.names = map[string][]netip.Addr{}
	for _, name := range []string{"api", "api-int", "console-openshift-console.apps"} {
		p.names[name+"."+p.Name+"."+domain] = []netip.Addr{netip.MustParseAddr(p.network + ".5")}
	}
}

// virtualAddresses plans the addresses of the API and of the ingress, one of each family.
func (p *planner) virtualAddresses() {
	for _, network := range []string{p.network + ".", p.six} {
		if network != "" {
			p.api = append(p.api, netip.MustParseAddr(network+"5"))
			p.ingress = append(p.ingress, netip.MustParseAddr(network+"6"))
		}
	}
}
