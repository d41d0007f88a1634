package operators

import "slipway/internal/cluster/openshift"

var mce = Operator{
	Name: "mce", Title: "Multicluster engine",
	Description:  "Creates and manages other clusters; with an operator for storage it can install them.",
	Feature:      openshift.FeatureMCE,
	Subscription: Subscription{Namespace: "multicluster-engine", Name: "multicluster-engine", OwnNamespace: true},
	Timeout:      longTimeout,
	Needs: Needs{
		Master: Need{CPUCores: 4, RAMMiB: 16 << 10}, Worker: Need{CPUCores: 4, RAMMiB: 16 << 10},
		Single: &Need{CPUCores: 8, RAMMiB: 32 << 10},
	},
}
