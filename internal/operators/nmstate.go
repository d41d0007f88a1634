package operators

import "slipway/internal/support"

var nmstate = Operator{
	Name: "nmstate", Title: "NMState",
	Description:  "Configures the network of running nodes.",
	Feature:      support.FeatureNMState,
	Subscription: Subscription{Namespace: "openshift-nmstate", Name: "kubernetes-nmstate-operator", OwnNamespace: true},
	Timeout:      longTimeout,
}
