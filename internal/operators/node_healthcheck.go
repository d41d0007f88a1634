package operators

import "slipway/internal/support"

var nodeHealthcheck = Operator{
	Name: "node-healthcheck", Title: "Node health check",
	Description:  "Finds unhealthy nodes and has them remedied.",
	Feature:      support.FeatureNodeHealthcheck,
	Subscription: Subscription{Namespace: "openshift-workload-availability", Name: "node-healthcheck-operator"},
	Timeout:      usualTimeout,
}
