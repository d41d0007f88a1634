package operators

import "slipway/internal/cluster/openshift"

var pipelines = Operator{
	Name: "pipelines", Title: "Pipelines",
	Description:  "Runs pipelines that build and deliver software.",
	Feature:      openshift.FeaturePipelines,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "openshift-pipelines-operator-rh"},
	Timeout:      usualTimeout,
}
