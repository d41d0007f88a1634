package operators

import "slipway/internal/cluster/openshift"

var openshiftLogging = Operator{
	Name: "openshift-logging", Title: "OpenShift Logging",
	Description:  "Collects logs and forwards them.",
	Feature:      openshift.FeatureOpenShiftLogging,
	Subscription: Subscription{Namespace: "openshift-logging", Name: "cluster-logging"},
	Timeout:      usualTimeout,
	Dependencies: []string{"loki"},
}
