package operators

import "slipway/internal/cluster/openshift"

var nmstate = Operator{
	Name: "nmstate", Title: "NMState",
	Description:  "Configures the network of running nodes.",
	Feature:      openshift.FeatureNMState,
	Subscription: Subscription{Namespace: "openshift-nmstate", Name: "kubernetes-nmstate-operator", OwnNamespace: true},
	Timeout:      longTimeout,
}
