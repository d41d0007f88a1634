package api

import "slipway/internal/model"

// notBuilt lists the operations of the document that the service does not have yet, by
// operationId, and what users can do instead.
var notBuilt = map[string]string{
	"GetClusterSupportedPlatforms":        "set the platform with PATCH /v2/clusters/{cluster_id}",
	"TransformClusterToAddingHosts":       "hosts cannot be added to an installed cluster",
	"TransformClusterToDay2":              "hosts cannot be added to an installed cluster",
	"v2ImportCluster":                     "hosts cannot be added to an existing cluster",
	"v2RegisterDisconnectedCluster":       "install through this service with POST /v2/clusters",
	"v2GetIgnoredValidations":             "no validation is ignored",
	"v2SetIgnoredValidations":             "no validation can be ignored",
	"V2GetClusterUISettings":              "settings of user interfaces are not stored",
	"V2UpdateClusterUISettings":           "settings of user interfaces are not stored",
	"GetInfraEnvPresignedFileURL":         "download with GET /v2/infra-envs/{infra_env_id}/downloads/files",
	"RegenerateInfraEnvSigningKey":        "image addresses are not signed",
	"DownloadMinimalInitrd":               "minimal images are not built",
	"v2InstallHost":                       "hosts cannot be added to an existing cluster",
	"v2ResetHostValidation":               "validations are evaluated again by themselves",
	"V2GetPresignedForClusterCredentials": "download with GET /v2/clusters/{cluster_id}/downloads/credentials",
	"V2GetPresignedForClusterFiles":       "download with GET /v2/clusters/{cluster_id}/downloads/files",
	"V2ListOperatorProperties":            "operators are not offered",
	"V2ListSupportedOperators":            "operators are not offered",
	"V2ListBundles":                       "operators are not offered",
	"V2GetBundle":                         "operators are not offered",
	"GetSupportedFeatures":                "support levels are not published",
	"GetDetailedSupportedFeatures":        "support levels are not published",
	"GetSupportedArchitectures":           "see cpu_architectures of GET /v2/openshift-versions",
	"v2ListReleaseSources":                "see GET /v2/openshift-versions",
	"V2ListManagedDomains":                "the service manages no DNS domains",
}

func errNotBuilt(operation, instead string) error {
	return reasonf(model.ErrNotBuilt, "operation %s is not built yet: %s", operation, instead)
}

// errUnsupported refuses a field whose effect the service does not have yet.
func errUnsupported(field string) error {
	return reasonf(model.ErrNotBuilt, "%s is not built yet: require it to be absent", field)
}
