package operators

import "slipway/internal/cluster/openshift"

var loki = Operator{
	Name: "loki", Title: "Loki",
	Description:  "Stores logs; the object storage it needs is set up once the cluster runs.",
	Feature:      openshift.FeatureLoki,
	Subscription: Subscription{Namespace: "openshift-operators-redhat", Name: "loki-operator"},
	Timeout:      usualTimeout,
}
