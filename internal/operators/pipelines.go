package operators

import "slipway/internal/support"

var pipelines = Operator{
	Name: "pipelines", Title: "Pipelines",
	Description:  "Runs pipelines that build and deliver software.",
	Feature:      support.FeaturePipelines,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "openshift-pipelines-operator-rh"},
	Timeout:      usualTimeout,
}
