package lifecycle

import (
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// HostConditions are the named groups of host validations (docs/reference/state-rules.md,
// "Groups of host validations"). A rule that is not among the results passes: it does not
// concern the host.
type HostConditions struct {
	Connected             bool
	MediaConnected        bool
	HasInventory          bool
	NotFullyTruncated     bool
	MinHardware           bool // hasMinRequiredHardware
	RequiredInput         bool // requiredInputFieldsExist
	SufficientForInstall  bool // isSufficientForInstall
	SufficientToBeBound   bool // of pool hosts
	VSphereDiskUUID       bool
	SufficientDiskSpeed   bool
	ImagesAvailable       bool
	failedHardware        []string
	failedInput           []string
	failedForInstallation []string
	failedToBeBound       []string
}

// ValidInventory evaluates hasValidInventory of the contract.
func (c HostConditions) ValidInventory() bool { return c.HasInventory && c.NotFullyTruncated }

var (
	minHardware = ids(
		wire.HostValidationIDHasMinValidDisks, wire.HostValidationIDHasMinCPUCores, wire.HostValidationIDHasMinMemory,
		wire.HostValidationIDCompatibleWithClusterPlatform, wire.HostValidationIDDiskEncryptionRequirementsSatisfied,
	)
	toBeBound = ids(
		wire.HostValidationIDHasMinValidDisks, wire.HostValidationIDHasMinCPUCores, wire.HostValidationIDHasMinMemory,
		wire.HostValidationIDHostnameValid,
	)
	requiredInput = ids(wire.HostValidationIDMachineCidrDefined)
	// forInstallation leaves out what is reported only: NTP, images before they are asked
	// for, the MTU, a partly cut inventory.
	forInstallation = ids(
		wire.HostValidationIDHasMemoryForRole, wire.HostValidationIDHasCPUCoresForRole,
		wire.HostValidationIDBelongsToMachineCidr, wire.HostValidationIDHostnameUnique, wire.HostValidationIDHostnameValid,
		wire.HostValidationIDIgnitionDownloadable, wire.HostValidationIDBelongsToMajorityGroup,
		wire.HostValidationIDSufficientNetworkLatencyRequirementForRole,
		wire.HostValidationIDSufficientPacketLossRequirementForRole,
		wire.HostValidationIDHasDefaultRoute, wire.HostValidationIDAPIDomainNameResolvedCorrectly,
		wire.HostValidationIDAPIIntDomainNameResolvedCorrectly, wire.HostValidationIDAppsDomainNameResolvedCorrectly,
		wire.HostValidationIDDNSWildcardNotConfigured, wire.HostValidationIDValidPlatformNetworkSettings,
		wire.HostValidationIDSufficientInstallationDiskSpeed, wire.HostValidationIDNonOverlappingSubnets,
		wire.HostValidationIDCompatibleAgent, wire.HostValidationIDTimeSyncedBetweenHostAndService,
		wire.HostValidationIDNoSkipInstallationDisk, wire.HostValidationIDNoSkipMissingDisk,
		wire.HostValidationIDNoIPCollisionsInNetwork, wire.HostValidationIDNoIscsiNicBelongsToMachineCidr,
	)
	clusterInput = ids(
		wire.ClusterValidationIDMachineCidrDefined, wire.ClusterValidationIDClusterCidrDefined,
		wire.ClusterValidationIDServiceCidrDefined, wire.ClusterValidationIDDNSDomainDefined,
		wire.ClusterValidationIDPullSecretSet,
	)
	vipsDefined        = ids(wire.ClusterValidationIDAPIVipsDefined, wire.ClusterValidationIDIngressVipsDefined)
	requiredForInstall = ids(
		wire.ClusterValidationIDMachineCidrEqualsToCalculatedCidr, wire.ClusterValidationIDAPIVipsValid,
		wire.ClusterValidationIDIngressVipsValid, wire.ClusterValidationIDAllHostsAreReadyToInstall,
		wire.ClusterValidationIDSufficientMastersCount, wire.ClusterValidationIDNetworkPrefixValid,
		wire.ClusterValidationIDNoCidrsOverlapping, wire.ClusterValidationIDNtpServerConfigured,
		wire.ClusterValidationIDNetworkTypeValid, wire.ClusterValidationIDCustomManifestsRequirementsSatisfied,
		wire.ClusterValidationIDNetworksSameAddressFamilies,
	)
)

// operatorsSuffix ends the ids of operators' rules, of hosts and clusters alike; two ids
// that end so, or tell of operators, are reported only.
const operatorsSuffix = "-requirements-satisfied"

var reportedOnly = ids(
	wire.ClusterValidationIDPlatformRequirementsSatisfied, wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied,
)

func ids[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = string(id)
	}
	return out
}

// HostConditionsOf groups the results of one host.
func HostConditionsOf(results []model.ValidationResult) HostConditions {
	f := failures(results)
	passed := func(id wire.HostValidationID) bool { _, bad := f[string(id)]; return !bad }
	c := HostConditions{
		Connected:             passed(wire.HostValidationIDConnected),
		MediaConnected:        passed(wire.HostValidationIDMediaConnected),
		HasInventory:          passed(wire.HostValidationIDHasInventory),
		NotFullyTruncated:     passed(wire.HostValidationIDInventoryNotFullyTruncated),
		VSphereDiskUUID:       passed(wire.HostValidationIDVsphereDiskUUIDEnabled),
		SufficientDiskSpeed:   passed(wire.HostValidationIDSufficientInstallationDiskSpeed),
		ImagesAvailable:       passed(wire.HostValidationIDContainerImagesAvailable),
		failedHardware:        failing(results, minHardware),
		failedInput:           failing(results, requiredInput),
		failedForInstallation: failing(results, append(operatorRules(results), forInstallation...)),
		failedToBeBound:       failing(results, toBeBound),
	}
	c.MinHardware = len(c.failedHardware) == 0
	c.RequiredInput = len(c.failedInput) == 0
	c.SufficientForInstall = len(c.failedForInstallation) == 0
	c.SufficientToBeBound = len(c.failedToBeBound) == 0
	return c
}

// ClusterConditions are the named groups of cluster validations.
type ClusterConditions struct {
	PendingInput       bool // pendingConditions: what a cluster cannot do without is there
	VIPsDefined        bool
	RequiredForInstall bool
	failedInput        []string
	failedForInstall   []string
}

// ClusterConditionsOf groups the results of a cluster.
func ClusterConditionsOf(results []model.ValidationResult) ClusterConditions {
	vips := failing(results, vipsDefined)
	c := ClusterConditions{
		failedInput:      failing(results, clusterInput),
		failedForInstall: failing(results, append(operatorRules(results), requiredForInstall...)),
	}
	c.PendingInput = len(c.failedInput) == 0
	c.VIPsDefined = len(vips) == 0
	c.RequiredForInstall = len(c.failedForInstall) == 0
	c.failedInput = append(c.failedInput, vips...)
	return c
}

// failures maps the ids that did not pass to their messages. A rule that is disabled or ignored passes.
func failures(results []model.ValidationResult) map[string]string {
	out := map[string]string{}
	for _, r := range results {
		if !r.Passes() {
			out[r.ID] = r.Message
		}
	}
	return out
}

// failing lists the messages of the given rules that did not pass, in order of the results.
func failing(results []model.ValidationResult, group []string) []string {
	var out []string
	for _, r := range results {
		if !r.Passes() && slices.Contains(group, r.ID) {
			out = append(out, r.Message)
		}
	}
	return out
}

func operatorRules(results []model.ValidationResult) []string {
	var out []string
	for _, r := range results {
		if strings.HasSuffix(r.ID, operatorsSuffix) && !slices.Contains(reportedOnly, r.ID) && !slices.Contains(minHardware, r.ID) {
			out = append(out, r.ID)
		}
	}
	return out
}
