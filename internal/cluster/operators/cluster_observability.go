package operators

import "slipway/internal/cluster/openshift"

var clusterObservability = Operator{
	Name: "cluster-observability", Title: "Cluster observability",
	Description:  "Manages monitoring stacks and the observability pages of the console.",
	Feature:      openshift.FeatureClusterObservability,
	Subscription: Subscription{Namespace: "openshift-cluster-observability-operator", Name: "cluster-observability-operator"},
	Timeout:      usualTimeout,
	Dependencies: []string{"openshift-logging"},
}
