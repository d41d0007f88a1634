package operators

import "slipway/internal/cluster/openshift"

var nodeMaintenance = Operator{
	Name: "node-maintenance", Title: "Node maintenance",
	Description:  "Drains nodes for maintenance and takes them back.",
	Feature:      openshift.FeatureNodeMaintenance,
	Subscription: Subscription{Namespace: "openshift-workload-maintenance", Name: "node-maintenance-operator"},
	Timeout:      usualTimeout,
}
