package operators

import "slipway/internal/cluster/openshift"

var nodeHealthcheck = Operator{
	Name: "node-healthcheck", Title: "Node health check",
	Description:  "Finds unhealthy nodes and has them remedied.",
	Feature:      openshift.FeatureNodeHealthcheck,
	Subscription: Subscription{Namespace: "openshift-workload-availability", Name: "node-healthcheck-operator"},
	Timeout:      usualTimeout,
}
