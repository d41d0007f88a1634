package operators

import "slipway/internal/cluster/openshift"

var selfNodeRemediation = Operator{
	Name: "self-node-remediation", Title: "Self node remediation",
	Description:  "Has unhealthy nodes restart themselves.",
	Feature:      openshift.FeatureSelfNodeRemediation,
	Subscription: Subscription{Namespace: "openshift-workload-availability", Name: "self-node-remediation"},
	Timeout:      usualTimeout,
	Dependencies: []string{"node-healthcheck"},
}
