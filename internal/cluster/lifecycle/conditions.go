package lifecycle

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// HostConditions are the named groups of host validations (docs/reference/states.md,
// "Groups of validations"). A rule that is not among the results passes: it does not
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
	// notForInstallation are the rules that stop no installation by themselves: they report, or conditions and groups of their own read
	// them. Every other rule of a host stops it.
	notForInstallation = slices.Concat(
		ids(
			wire.HostValidationIDConnected, wire.HostValidationIDMediaConnected, wire.HostValidationIDHasInventory,
			wire.HostValidationIDInventoryNotFullyTruncated, wire.HostValidationIDVsphereDiskUUIDEnabled,
		),
		ids(
			wire.HostValidationIDInventoryNotPartiallyTruncated, wire.HostValidationIDNtpSynced, wire.HostValidationIDMtuValid,
			wire.HostValidationIDContainerImagesAvailable, wire.HostValidationIDReleaseDomainNameResolvedCorrectly,
		),
		minHardware, requiredInput,
	)
	clusterInput = ids(
		wire.ClusterValidationIDMachineCidrDefined, wire.ClusterValidationIDClusterCidrDefined,
		wire.ClusterValidationIDServiceCidrDefined, wire.ClusterValidationIDDNSDomainDefined,
		wire.ClusterValidationIDPullSecretSet,
	)
	vipsDefined = ids(wire.ClusterValidationIDAPIVipsDefined, wire.ClusterValidationIDIngressVipsDefined)
	// notRequiredForInstall are the rules of a cluster that stop no installation by themselves.
	notRequiredForInstall = slices.Concat(
		ids(wire.ClusterValidationIDPlatformRequirementsSatisfied, wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied),
		clusterInput, vipsDefined,
	)
)

// Group is a named set of validations, all of which have to pass.
type Group struct {
	Name string // as conditions of the tables name it
	IDs  []string
	// Others turns the group round: it has every rule but IDs.
	Others bool
}

// HostGroups lists the groups of host validations, for documentation.
func HostGroups() []Group {
	return []Group{
		{Name: "hasMinRequiredHardware", IDs: minHardware},
		{Name: "sufficientToBeBound", IDs: toBeBound},
		{Name: "requiredInputFieldsExist", IDs: requiredInput},
		{Name: "isSufficientForInstall", IDs: notForInstallation, Others: true},
	}
}

// ClusterGroups lists the groups of cluster validations, for documentation.
func ClusterGroups() []Group {
	return []Group{
		{Name: "pendingConditions", IDs: clusterInput},
		{Name: "vipsDefinedConditions", IDs: vipsDefined},
		{Name: "requiredInputFieldsExistNonDhcp", IDs: slices.Concat(clusterInput, vipsDefined)},
		{Name: "requiredForInstall", IDs: notRequiredForInstall, Others: true},
	}
}

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
		failedHardware:        failing(results, among(minHardware)),
		failedInput:           failing(results, among(requiredInput)),
		failedForInstallation: failing(results, beside(notForInstallation)),
		failedToBeBound:       failing(results, among(toBeBound)),
	}
	c.MinHardware = len(c.failedHardware) == 0
	c.RequiredInput = len(c.failedInput) == 0
	c.SufficientForInstall = len(c.failedForInstallation) == 0
	c.SufficientToBeBound = len(c.failedToBeBound) == 0
	return c
}

// ClusterConditions are the named groups of cluster validations.
type ClusterConditions struct {
	PendingInput       bool // pendingConditions: the required input of a cluster is set
	VIPsDefined        bool
	RequiredForInstall bool
	failedInput        []string
	failedForInstall   []string
}

// ClusterConditionsOf groups the results of a cluster.
func ClusterConditionsOf(results []model.ValidationResult) ClusterConditions {
	vips := failing(results, among(vipsDefined))
	c := ClusterConditions{
		failedInput:      failing(results, among(clusterInput)),
		failedForInstall: failing(results, beside(notRequiredForInstall)),
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

// failing lists the messages of the rules of a group that did not pass, in order of the results.
func failing(results []model.ValidationResult, group func(id string) bool) []string {
	var out []string
	for _, r := range results {
		if !r.Passes() && group(r.ID) {
			out = append(out, r.Message)
		}
	}
	return out
}

// among returns the group of the given rules, beside the group of all others.
func among(ids []string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func beside(ids []string) func(string) bool {
	return func(id string) bool { return !slices.Contains(ids, id) }
}
