package operators

import (
	"slices"
	"time"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// Operator is one available operator.
type Operator struct {
	Name        string // of the API
	Title       string // as users read it
	Description string // its purpose, one sentence
	// Feature is how well OpenShift supports it, and what excludes it. NewTable has its name, and the operators that it needs.
	Feature features.Row
	// Rule begins the id of its validations; empty: Name.
	Rule string
	// Subscription installs the operator in the new cluster.
	Subscription Subscription
	// Timeout is how long it may take to become available.
	Timeout time.Duration
	// Dependencies are the operators it does not work without.
	Dependencies []string
	// Properties are the properties that a client can set; none: a client's text is kept as it is.
	Properties []Property
	// Needs are added to what a host needs for its role.
	Needs Needs
	// ownNeed compares hosts with the addition of the operator by itself.
	ownNeed bool
	// onSingleNode are further Dependencies on a single node.
	onSingleNode []string
	// brings are operators that come with it in a cluster, but that it can do without.
	brings func(p *Plan) []string

	// adjust changes the addition for one host of a role; h is nil when it is asked for
	// hosts in general. Nil: every host of the role gets the same.
	adjust func(p *Plan, h *model.Host, role model.Role, n Need) Need
	// host and cluster are the rules of its own, run once the common ones pass.
	host    func(p *Plan, h *model.Host) Result
	cluster func(p *Plan) Result
}

// Subscription names the operator's subscription in the new cluster.
type Subscription struct {
	Namespace string
	Name      string
	Package   string // in the catalogue; empty: Name
	Source    string // the catalogue; empty: Red Hat's
	Channel   string // empty: the default of the package
	Group     string // the operator group; empty: the namespace has one in every cluster
	// OwnNamespace operators watch only their namespace, others all of them.
	OwnNamespace bool
	// ClusterMonitoring has the platform's Prometheus look at the namespace, and PrometheusRole lets it read its targets there, where the
	// operator does not.
	ClusterMonitoring, PrometheusRole bool
	// named changes Name in some versions of OpenShift.
	named func(p *Plan) string
}

// Need is the addition of an operator to the requirements of one host.
type Need struct {
	CPUCores int
	RAMMiB   int64
	// Also are requirements that are no numbers, as users read them.
	Also []string
}

// Needs are the additions by role.
type Needs struct {
	Master, Worker Need
	// Single is for the host of a single-node cluster; nil: Master.
	Single *Need
}

// Property is something a client can set of an operator (operator-property of the API).
type Property struct {
	Name        string
	Type        string // boolean, string, integer or float
	Mandatory   bool
	Options     []string
	Default     string
	Description string
}

var byName = func() map[string]*Operator {
	out := make(map[string]*Operator, len(catalogue))
	for i := range catalogue {
		out[catalogue[i].Name] = &catalogue[i]
	}
	return out
}()

// Features is the table of all features, operators included.
var Features = func() *features.Table {
	rows := make([]features.Row, len(catalogue))
	for i := range catalogue {
		o := &catalogue[i]
		rows[i] = o.Feature
		rows[i].Name, rows[i].Operator = o.Title, o.Name
		for _, name := range slices.Concat(o.Dependencies, o.onSingleNode) {
			rows[i].Needs = append(rows[i].Needs, byName[name].Feature.ID)
		}
	}
	return features.NewTable(rows...)
}()

// All lists the operators by name. They are shared: do not change them.
func All() []*Operator {
	out := make([]*Operator, len(catalogue))
	for i := range catalogue {
		out[i] = &catalogue[i]
	}
	return out
}

// Find looks an operator up by name; nil when it is not available.
func Find(name string) *Operator { return byName[name] }

// Names lists the names of the operators, sorted.
func Names() []string {
	out := make([]string, len(catalogue))
	for i := range catalogue {
		out[i] = catalogue[i].Name
	}
	return out
}

// RuleID returns the id of the validations of an operator, of hosts and clusters alike.
func (o *Operator) RuleID() string {
	if o.Rule != "" {
		return o.Rule + "-requirements-satisfied"
	}
	return o.Name + "-requirements-satisfied"
}

// comesWith lists the operators that are installed with it in a cluster.
func (o *Operator) comesWith(c *model.Cluster) []string {
	out := o.DependenciesIn(c)
	if o.brings != nil {
		out = append(out, o.brings(NewPlan(c, nil))...)
	}
	return out
}

// DependenciesIn lists the operators that it cannot do without in a cluster.
func (o *Operator) DependenciesIn(c *model.Cluster) []string {
	out := slices.Clone(o.Dependencies)
	if c.SingleNode() {
		out = append(out, o.onSingleNode...)
	}
	return out
}

func (s Subscription) nameIn(p *Plan) string {
	if s.named != nil {
		return s.named(p)
	}
	return s.Name
}
