package operators

import "slipway/internal/support"

var kmm = Operator{
	Name: "kmm", Title: "Kernel module management",
	Description:  "Builds and loads kernel modules that the system does not ship.",
	Feature:      support.FeatureKMM,
	Subscription: Subscription{Namespace: "openshift-kmm", Name: "kernel-module-management"},
	Timeout:      usualTimeout,
}
