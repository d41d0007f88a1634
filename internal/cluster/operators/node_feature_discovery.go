package operators

import "slipway/internal/cluster/openshift"

var nodeFeatureDiscovery = Operator{
	Name: "node-feature-discovery", Title: "Node feature discovery",
	Description:  "Labels nodes with the hardware they have.",
	Feature:      openshift.FeatureNodeFeatureDiscovery,
	Subscription: Subscription{Namespace: "openshift-nfd", Name: "nfd", OwnNamespace: true},
	Timeout:      usualTimeout,
}
