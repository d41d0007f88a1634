package operators

import "slipway/internal/support"

var oadp = Operator{
	Name: "oadp", Title: "API for data protection",
	Description:  "Backs applications up and restores them; where to is set up once the cluster runs.",
	Feature:      support.FeatureOADP,
	Subscription: Subscription{Namespace: "openshift-adp", Name: "redhat-oadp-operator", OwnNamespace: true},
	Timeout:      usualTimeout,
}
