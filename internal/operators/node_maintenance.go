package operators

import "slipway/internal/support"

var nodeMaintenance = Operator{
	Name: "node-maintenance", Title: "Node maintenance",
	Description:  "Drains nodes for maintenance and takes them back.",
	Feature:      support.FeatureNodeMaintenance,
	Subscription: Subscription{Namespace: "openshift-workload-maintenance", Name: "node-maintenance-operator"},
	Timeout:      usualTimeout,
}
