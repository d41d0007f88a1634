package operators

import "slipway/internal/cluster/openshift"

var kubeDescheduler = Operator{
	Name: "kube-descheduler", Title: "Kube descheduler",
	Description: "Moves running work to nodes that fit it better.",
	Feature:     openshift.FeatureKubeDescheduler,
	Subscription: Subscription{
		Namespace:    "openshift-kube-descheduler-operator",
		Name:         "cluster-kube-descheduler-operator",
		OwnNamespace: true,
	},
	Timeout: usualTimeout,
}
