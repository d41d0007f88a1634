package operators

import "slipway/internal/cluster/openshift"

var lso = Operator{
	Name: "lso", Title: "Local storage",
	Description:  "Offers disks of nodes as volumes.",
	Feature:      openshift.FeatureLSO,
	Subscription: Subscription{Namespace: "openshift-local-storage", Name: "local-storage-operator", OwnNamespace: true},
	Timeout:      lsoTimeout,
}
