package validation

import (
	"slices"

	"slipway/internal/wire"
)

// IgnoreAll stands for every validation that can be ignored.
const IgnoreAll = "all"

// neverIgnored are the validations that cannot be ignored: an installation that fails them could not begin at all
// (docs/reference/validation-rules.md, "Rules that cannot be ignored").
var (
	neverIgnoredOfHosts = []wire.HostValidationID{
		wire.HostValidationIDConnected, wire.HostValidationIDHasInventory, wire.HostValidationIDInventoryNotFullyTruncated,
		wire.HostValidationIDMachineCidrDefined, wire.HostValidationIDHostnameUnique, wire.HostValidationIDHostnameValid,
	}
	neverIgnoredOfClusters = []wire.ClusterValidationID{
		wire.ClusterValidationIDAPIVipsDefined, wire.ClusterValidationIDIngressVipsDefined,
		wire.ClusterValidationIDAllHostsAreReadyToInstall, wire.ClusterValidationIDSufficientMastersCount,
		wire.ClusterValidationIDPullSecretSet,
	}
)

// HostIgnorable reports whether a cluster may ignore a host validation.
func HostIgnorable(id wire.HostValidationID) bool {
	return id.Valid() && !slices.Contains(neverIgnoredOfHosts, id)
}

// ClusterIgnorable reports whether a cluster may ignore one of its validations.
func ClusterIgnorable(id wire.ClusterValidationID) bool {
	return id.Valid() && !slices.Contains(neverIgnoredOfClusters, id)
}
