package validation

import "slipway/internal/wire"

// clusterTable is the table of docs/reference/validation-rules.md, "Rules of a cluster"
// without the operators' rules, ordered by category and id as clients see them.
var clusterTable = []ClusterRule{
	{
		ID: wire.ClusterValidationIDPlatformRequirementsSatisfied, Category: CategoryConfiguration, check: platformRequirements,
		Why: "Oracle's cloud needs the manifests of its drivers; reported only",
	},
	{
		ID: wire.ClusterValidationIDPullSecretSet, Category: CategoryConfiguration, check: pullSecretSet,
		Why: "without it no image can be pulled",
	},
	{
		ID: wire.ClusterValidationIDAllHostsAreReadyToInstall, Category: CategoryHostsData, check: allHostsReady,
		Why: "an installation begins on all hosts at once",
	},
	{
		ID: wire.ClusterValidationIDSufficientMastersCount, Category: CategoryHostsData, check: mastersCount,
		Why: "etcd needs the number of members the cluster was defined with",
	},
	{
		ID: wire.ClusterValidationIDAPIVipsDefined, Category: CategoryNetwork, check: apiVIPsDefined,
		Why: "managed networking moves this address between control plane hosts",
	},
	{
		ID: wire.ClusterValidationIDAPIVipsValid, Category: CategoryNetwork, check: apiVIPsValid,
		Why: "an address in use or outside the network cannot be used",
	},
	{
		ID: wire.ClusterValidationIDClusterCidrDefined, Category: CategoryNetwork, check: clusterNetworkDefined,
		Why: "pods take their addresses from it",
	},
	{
		ID: wire.ClusterValidationIDCustomManifestsRequirementsSatisfied, Category: CategoryNetwork, check: customManifests,
		Why: "a network plug-in that is not shipped comes as manifests, and nodes get no configuration from unreadable ones",
	},
	{
		ID: wire.ClusterValidationIDDNSDomainDefined, Category: CategoryNetwork, check: domainDefined,
		Why: "every name of the cluster ends in it",
	},
	{
		ID: wire.ClusterValidationIDIngressVipsDefined, Category: CategoryNetwork, check: ingressVIPsDefined,
		Why: "managed networking moves this address between the hosts of the router",
	},
	{
		ID: wire.ClusterValidationIDIngressVipsValid, Category: CategoryNetwork, check: ingressVIPsValid,
		Why: "an address in use or outside the network cannot be used",
	},
	{
		ID: wire.ClusterValidationIDMachineCidrDefined, Category: CategoryNetwork, check: clusterMachineNetwork,
		Why: "node addresses are chosen from it",
	},
	{
		ID: wire.ClusterValidationIDMachineCidrEqualsToCalculatedCidr, Category: CategoryNetwork, check: networkAsCalculated,
		Why: "a VIP moves only inside the network of the NICs that hold it",
	},
	{
		ID: wire.ClusterValidationIDNetworkPrefixValid, Category: CategoryNetwork, check: hostPrefixValid,
		Why: "every host needs a part of the cluster network of its own",
	},
	{
		ID: wire.ClusterValidationIDNetworkTypeValid, Category: CategoryNetwork, check: networkTypeValid,
		Why: "each network plug-in supports only some shapes of clusters",
	},
	{
		ID: wire.ClusterValidationIDNetworksSameAddressFamilies, Category: CategoryNetwork, check: sameFamilies,
		Why: "a service without a pod network of its family reaches nothing",
	},
	{
		ID: wire.ClusterValidationIDNoCidrsOverlapping, Category: CategoryNetwork, check: networksApart,
		Why: "an address in two networks is routed to one of them",
	},
	{
		ID: wire.ClusterValidationIDNtpServerConfigured, Category: CategoryNetwork, check: clocksAgree,
		Why: "hosts whose clocks differ refuse each other's certificates",
	},
	{
		ID: wire.ClusterValidationIDServiceCidrDefined, Category: CategoryNetwork, check: serviceNetworkDefined,
		Why: "services take their addresses from it",
	},
}
