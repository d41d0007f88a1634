package operators

import "slipway/internal/cluster/openshift"

var serverless = Operator{
	Name: "serverless", Title: "Serverless",
	Description:  "Runs services that scale to zero.",
	Feature:      openshift.FeatureServerless,
	Subscription: Subscription{Namespace: "openshift-serverless", Name: "serverless-operator"},
	Timeout:      usualTimeout,
}
