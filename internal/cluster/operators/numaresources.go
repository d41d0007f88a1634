package operators

import "slipway/internal/cluster/openshift"

var numaResources = Operator{
	Name: "numaresources", Title: "NUMA resources",
	Description:  "Places work that is sensitive to NUMA on fitting nodes.",
	Feature:      openshift.FeatureNUMAResources,
	Rule:         "numa-resources",
	Subscription: Subscription{Namespace: "openshift-numaresources", Name: "numaresources-operator", OwnNamespace: true},
	Timeout:      usualTimeout,
}
