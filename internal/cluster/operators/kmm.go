package operators

import "slipway/internal/cluster/openshift"

var kmm = Operator{
	Name: "kmm", Title: "Kernel module management",
	Description:  "Builds and loads kernel modules that the system does not ship.",
	Feature:      openshift.FeatureKMM,
	Subscription: Subscription{Namespace: "openshift-kmm", Name: "kernel-module-management"},
	Timeout:      usualTimeout,
}
