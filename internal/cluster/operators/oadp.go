package operators

import "slipway/internal/cluster/openshift"

var oadp = Operator{
	Name: "oadp", Title: "API for data protection",
	Description:  "Backs applications up and restores them; where to is set up once the cluster runs.",
	Feature:      openshift.FeatureOADP,
	Subscription: Subscription{Namespace: "openshift-adp", Name: "redhat-oadp-operator", OwnNamespace: true},
	Timeout:      usualTimeout,
}
