package operators

import (
	"slices"
	"time"

	"slipway/internal/model"
)

// Types of monitored operators.
const (
	TypeBuiltin = "builtin"
	TypeOLM     = "olm"
)

// Names of the operators that are part of every cluster.
const (
	Console        = "console"
	ClusterVersion = "cvo"
)

// builtinTimeout is how long built-in operators may take (docs/reference/operator-rules.md, "Built-in operators").
const builtinTimeout = time.Hour

// Builtin lists the operators of the platform that an installation waits for; the cluster version only where the release is checked at
// the end.
func Builtin(c *model.Cluster, checkVersion bool) []model.MonitoredOperator {
	list := []model.MonitoredOperator{{ClusterID: c.ID, Name: Console, Type: TypeBuiltin, Timeout: builtinTimeout}}
	if checkVersion {
		list = append(list, model.MonitoredOperator{ClusterID: c.ID, Name: ClusterVersion, Type: TypeBuiltin, Timeout: builtinTimeout})
	}
	return list
}

// Monitored lists the operators an installation waits for because they were chosen.
func Monitored(c *model.Cluster) []model.MonitoredOperator {
	p := NewPlan(c, nil)
	var list []model.MonitoredOperator
	for _, chosen := range c.OLMOperators {
		o := byName[chosen.Name]
		if o == nil {
			continue
		}
		list = append(list, model.MonitoredOperator{
			ClusterID: c.ID, Name: o.Name, Type: TypeOLM, Timeout: o.Timeout, Properties: chosen.Properties,
			Namespace: o.Subscription.Namespace, SubscriptionName: o.Subscription.nameIn(p),
		})
	}
	return list
}

// Origin returns why a cluster has an operator: the bundles it is in, the bundles among them that the user chose, and whether only
// other operators need it.
func Origin(c *model.Cluster, name string) (in, from []string, dependencyOnly bool) {
	i := slices.IndexFunc(c.OLMOperators, func(o model.OLMOperator) bool { return o.Name == name })
	if i < 0 {
		return []string{}, []string{}, false
	}
	o := c.OLMOperators[i]
	return BundlesOf(name, c.SingleNode()), append([]string{}, o.Bundles...), o.DependencyOnly
}
