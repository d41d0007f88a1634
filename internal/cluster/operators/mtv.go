package operators

import "slipway/internal/cluster/openshift"

// everyNode is the addition of the operators that ask for a little of every node.
var everyNode = Need{CPUCores: 1, RAMMiB: 1024, Also: []string{"1024 MiB of memory more", "1 CPU core more"}}

var mtv = Operator{
	Name: "mtv", Title: "Migration toolkit for virtualization",
	Description:  "Brings virtual machines from other platforms.",
	Feature:      openshift.FeatureMTV,
	Subscription: Subscription{Namespace: "openshift-mtv", Name: "mtv-operator", OwnNamespace: true},
	Timeout:      longTimeout,
	Dependencies: []string{"cnv"},
	Needs:        Needs{Master: everyNode, Worker: everyNode},
}
