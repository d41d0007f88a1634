package operators

import "slipway/internal/cluster/openshift"

var fenceAgentsRemediation = Operator{
	Name: "fence-agents-remediation", Title: "Fence agents remediation",
	Description:  "Restarts unhealthy nodes through their management controllers.",
	Feature:      openshift.FeatureFenceAgentsRemediation,
	Subscription: Subscription{Namespace: "openshift-workload-availability", Name: "fence-agents-remediation"},
	Timeout:      usualTimeout,
	Dependencies: []string{"node-healthcheck"},
}
