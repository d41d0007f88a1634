package operators

import "slipway/internal/support"

var serverless = Operator{
	Name: "serverless", Title: "Serverless",
	Description:  "Runs services that scale to zero.",
	Feature:      support.FeatureServerless,
	Subscription: Subscription{Namespace: "openshift-serverless", Name: "serverless-operator"},
	Timeout:      usualTimeout,
}
