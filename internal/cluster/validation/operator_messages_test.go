package validation_test

import (
	"slices"
	"strings"

	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// operatorWorld makes a cluster of large hosts with an operator and all it brings.
func operatorWorld(o *operators.Operator) (*model.Cluster, []*model.Host) {
	c, hosts := fleet(6)
	names := withDependencies(o.Name)
	for _, name := range names {
		c.OLMOperators = append(c.OLMOperators, model.OLMOperator{Name: name})
	}
	for _, h := range hosts {
		inv := h.Inventory
		inv.CPU.Count, inv.CPU.Flags, inv.Memory.PhysicalBytes = 64, []string{"vmx"}, 256<<30
		inv.Memory.UsableBytes = 255 << 30
		inv.Gpus = []wire.Gpu{{VendorID: "10de"}, {VendorID: "1002"}}
		second := inv.Disks[0]
		second.ID, second.ByID, second.ByPath, second.Name, second.Path = "wwn-b", "wwn-b", "pci-b", "sdb", "/dev/sdb"
		inv.Disks = append(inv.Disks, second)
	}
	return c, hosts
}

func withDependencies(name string) []string {
	out := []string{name}
	for _, d := range operators.Find(name).Dependencies {
		for _, more := range withDependencies(d) {
			if !slices.Contains(out, more) {
				out = append(out, more)
			}
		}
	}
	return out
}

// breaking changes a cluster so that an operator may not fit any more.
type breaking struct {
	name   string
	change func(c *model.Cluster, hosts []*model.Host)
}

func ofEach(change func(*wire.Inventory)) func(*model.Cluster, []*model.Host) {
	return func(_ *model.Cluster, hosts []*model.Host) {
		for _, h := range hosts {
			change(h.Inventory)
		}
	}
}

// hostBreaks and clusterBreaks are tried in order; the first that an operator minds is
// the case in which it fails.
var (
	hostBreaks = []breaking{
		{
			"on hosts without enough CPU and memory",
			ofEach(func(inv *wire.Inventory) { inv.CPU.Count, inv.Memory.UsableBytes = 1, 1<<30 }),
		},
		{"on hosts with a single disk", ofEach(func(inv *wire.Inventory) { inv.Disks = inv.Disks[:1] })},
		{"on hosts with secure boot", ofEach(func(inv *wire.Inventory) { inv.Boot.SecureBootState = wire.SecureBootStateEnabled })},
		{"on hosts of another architecture", func(c *model.Cluster, hosts []*model.Host) {
			c.CPUArchitecture = "multi"
			ofEach(func(inv *wire.Inventory) { inv.CPU.Architecture = "s390x" })(c, hosts)
		}},
	}
	clusterBreaks = []breaking{
		{"without an operator it needs", func(c *model.Cluster, _ []*model.Host) { c.OLMOperators = c.OLMOperators[:1] }},
		{"with an old OpenShift", func(c *model.Cluster, _ []*model.Host) { c.OpenShiftVersion = "4.8.0" }},
		{"on another architecture", func(c *model.Cluster, _ []*model.Host) { c.CPUArchitecture = "s390x" }},
		{"without GPUs", ofEach(func(inv *wire.Inventory) { inv.Gpus = nil })},
		{"on a single node", func(c *model.Cluster, _ []*model.Host) { c.ControlPlaneCount = 1 }},
		{
			"on an architecture that the version does not have",
			func(c *model.Cluster, _ []*model.Host) { c.CPUArchitecture, c.OpenShiftVersion = "aarch64", "4.8.0" },
		},
	}
	silence = breaking{"before the hosts sent inventories", func(_ *model.Cluster, hosts []*model.Host) {
		for _, h := range hosts {
			h.Inventory = nil
		}
	}}
)

type operatorEvaluation func(o *operators.Operator, b breaking) model.ValidationResult

func evaluateOperatorOnHost(o *operators.Operator, b breaking) model.ValidationResult {
	c, hosts := operatorWorld(o)
	if b.change != nil {
		b.change(c, hosts)
	}
	facts := hostFacts(c, hosts)
	for _, h := range hosts { // the host that says most
		facts.Host = h
		if r, _ := find(validation.Host(facts), o.RuleID()); r.Status != ok {
			return r
		}
	}
	r, _ := find(validation.Host(facts), o.RuleID())
	return r
}

func evaluateOperatorOnCluster(o *operators.Operator, b breaking) model.ValidationResult {
	c, hosts := operatorWorld(o)
	if b.change != nil {
		b.change(c, hosts)
	}
	r, _ := find(clusterResults(c, hosts), o.RuleID())
	return r
}

// saidOfOperators lists three cases of each operator: the operator fits, does not fit, and that is not known yet, as far as such cases
// exist.
func saidOfOperators(evaluate operatorEvaluation, breaks []breaking) map[string][]said {
	out := map[string][]said{}
	for _, o := range operators.All() {
		list := []said{{"passes with all it needs", evaluate(o, breaking{})}}
		for _, b := range breaks {
			if r := evaluate(o, b); r.Status == fails {
				list = append(list, said{"fails " + b.name, r})
				break
			}
		}
		if r := evaluate(o, silence); r.Status == waits {
			list = append(list, said{"waits " + silence.name, r})
		}
		out[o.RuleID()] = list
	}
	return out
}

func saidOfAIGPU() []said {
	const id = "openshift-ai-gpu-requirements-satisfied"
	evaluate := func(beside ...string) model.ValidationResult {
		c, hosts := operatorWorld(operators.Find("openshift-ai"))
		for _, name := range beside {
			c.OLMOperators = append(c.OLMOperators, model.OLMOperator{Name: name})
		}
		r, _ := find(clusterResults(c, hosts), id)
		return r
	}
	return []said{
		{"passes with an operator for GPUs", evaluate("nvidia-gpu")},
		{"passes without", evaluate()},
	}
}

// hostsNeverMind are operators that run wherever their role fits: they need no CPU,
// memory or device of their own.
var hostsNeverMind = []string{
	"lso", "pipelines", "servicemesh", "serverless", "authorino", "node-healthcheck", "self-node-remediation",
	"fence-agents-remediation", "node-maintenance", "kube-descheduler", "cluster-observability", "numa-resources",
	"oadp", "metallb", "loki", "openshift-logging",
}

// hostsNeverWait are operators that need no fact of an inventory.
var hostsNeverWait = append([]string{"nmstate", "node-feature-discovery"}, hostsNeverMind...)

// clustersNeverWait are operators that look at the settings of a cluster, not at what its
// hosts told.
var clustersNeverWait = []string{
	"lso", "cnv", "lvm", "mce", "mtv", "osc", "node-feature-discovery", "pipelines", "servicemesh", "serverless", "openshift-ai",
	"authorino", "nmstate", "kmm", "node-healthcheck", "self-node-remediation", "fence-agents-remediation", "node-maintenance",
	"kube-descheduler", "cluster-observability", "numa-resources", "oadp", "metallb", "loki", "openshift-logging",
}

func listed(names []string, id string) bool {
	return slices.Contains(names, strings.TrimSuffix(id, "-requirements-satisfied"))
}
