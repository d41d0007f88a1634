package operators

import "slipway/internal/cluster/openshift"

var osc = Operator{
	Name: "osc", Title: "Sandboxed containers",
	Description: "Runs containers in virtual machines of their own.",
	Feature:     openshift.FeatureOSC,
	Subscription: Subscription{
		Namespace: "openshift-sandboxed-containers-operator", Name: "sandboxed-containers-operator", OwnNamespace: true,
	},
	Timeout:      longTimeout,
	Dependencies: []string{"node-feature-discovery"},
	Needs:        Needs{Master: everyNode, Worker: everyNode},
}
