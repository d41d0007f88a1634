package operators

import "slipway/internal/support"

var authorino = Operator{
	Name: "authorino", Title: "Authorino",
	Description:  "Authorizes requests to the API of models and services.",
	Feature:      support.FeatureAuthorino,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "authorino-operator"},
	Timeout:      usualTimeout,
}
