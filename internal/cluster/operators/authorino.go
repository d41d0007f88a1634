package operators

import "slipway/internal/cluster/openshift"

var authorino = Operator{
	Name: "authorino", Title: "Authorino",
	Description:  "Authorizes requests to the API of models and services.",
	Feature:      openshift.FeatureAuthorino,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "authorino-operator"},
	Timeout:      usualTimeout,
}
