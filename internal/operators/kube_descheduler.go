package operators

import "slipway/internal/support"

var kubeDescheduler = Operator{
	Name: "kube-descheduler", Title: "Kube descheduler",
	Description:  "Moves running work to nodes that fit it better.",
	Feature:      support.FeatureKubeDescheduler,
	Subscription: Subscription{Namespace: "openshift-kube-descheduler-operator", Name: "cluster-kube-descheduler-operator", OwnNamespace: true},
	Timeout:      usualTimeout,
}
