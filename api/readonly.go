package api

import "slipway/internal/platform/httpapi"

// viewed are the operations of callers who may only read. Not in it are those whose answers give access to clusters
// or hosts: credentials, files with secrets, install-config with the pull secret, and InfraEnvs, whose image
// addresses contain a token.
var viewed = map[string]bool{
	"v2ListClusters":                   true,
	"V2GetClusterDefaultConfig":        true,
	"v2GetCluster":                     true,
	"ListClusterHosts":                 true,
	"v2GetIgnoredValidations":          true,
	"V2ListClusterManifests":           true,
	"V2ListOfClusterOperators":         true,
	"v2GetPreflightRequirements":       true,
	"GetClusterSupportedPlatforms":     true,
	"V2GetClusterUISettings":           true,
	"v2ListComponentVersions":          true,
	"V2ListManagedDomains":             true,
	"v2ListEvents":                     true,
	"v2ListHosts":                      true,
	"v2GetHost":                        true,
	"v2ListSupportedOpenshiftVersions": true,
	"V2ListBundles":                    true,
	"V2GetBundle":                      true,
	"v2ListReleaseSources":             true,
	"GetSupportedArchitectures":        true,
	"GetSupportedFeatures":             true,
	"GetDetailedSupportedFeatures":     true,
	"V2ListSupportedOperators":         true,
	"V2ListOperatorProperties":         true,
	"ShowWorkflow":                     true,
	"ListOSImages":                     true,
}

// checkReadOnly refuses what a caller who may only read has no access to.
func checkReadOnly(actor Actor, operation string) error {
	if actor.ReadOnly && !viewed[operation] {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a token that is not read-only for %s", operation)
	}
	return nil
}
