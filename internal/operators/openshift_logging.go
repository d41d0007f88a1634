package operators

import "slipway/internal/support"

var openshiftLogging = Operator{
	Name: "openshift-logging", Title: "OpenShift Logging",
	Description:  "Collects logs and forwards them.",
	Feature:      support.FeatureOpenShiftLogging,
	Subscription: Subscription{Namespace: "openshift-logging", Name: "cluster-logging"},
	Timeout:      usualTimeout,
	Dependencies: []string{"loki"},
}
