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
	Connected            bool
	MediaConnected       bool
	HasInventory         bool
	NotFullyTruncated    bool
	MinHardware          bool // hasMinRequiredHardware
	RequiredInput        bool // requiredInputFieldsExist
	SufficientForInstall bool // isSufficientForInstall
	SufficientToBeBound  bool // of pool hosts
	VSphereDiskUUID      bool
	SufficientDiskSpeed  bool
	ImagesAvailable      bool
	hardware             problems
	input                problems
	forInstallation      problems
	toBeBound            problems
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
		Connected:           passed(wire.HostValidationIDConnected),
		MediaConnected:      passed(wire.HostValidationIDMediaConnected),
		HasInventory:        passed(wire.HostValidationIDHasInventory),
		NotFullyTruncated:   passed(wire.HostValidationIDInventoryNotFullyTruncated),
		VSphereDiskUUID:     passed(wire.HostValidationIDVsphereDiskUUIDEnabled),
		SufficientDiskSpeed: passed(wire.HostValidationIDSufficientInstallationDiskSpeed),
		ImagesAvailable:     passed(wire.HostValidationIDContainerImagesAvailable),
		hardware:            problemsOf(results, among(minHardware)),
		input:               problemsOf(results, among(requiredInput)),
		forInstallation:     problemsOf(results, beside(notForInstallation)),
		toBeBound:           problemsOf(results, among(toBeBound)),
	}
	c.MinHardware = c.hardware.none()
	c.RequiredInput = c.input.none()
	c.SufficientForInstall = c.forInstallation.none()
	c.SufficientToBeBound = c.toBeBound.none()
	return c
}

// ClusterConditions are the named groups of cluster validations.
type ClusterConditions struct {
	PendingInput       bool // pendingConditions: the required input of a cluster is set
	VIPsDefined        bool
	RequiredForInstall bool
	input              problems
	forInstall         problems
}

// ClusterConditionsOf groups the results of a cluster.
func ClusterConditionsOf(results []model.ValidationResult) ClusterConditions {
	c := ClusterConditions{
		PendingInput: problemsOf(results, among(clusterInput)).none(),
		VIPsDefined:  problemsOf(results, among(vipsDefined)).none(),
		input:        problemsOf(results, among(slices.Concat(clusterInput, vipsDefined))),
		forInstall:   problemsOf(results, beside(notRequiredForInstall)),
	}
	c.RequiredForInstall = c.forInstall.none()
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

// problems are the messages of the rules of a group that did not pass, each in the order of the results.
type problems struct {
	failed  []string // and rules that could not be evaluated
	pending []string // they wait for something
}

func problemsOf(results []model.ValidationResult, group func(id string) bool) problems {
	var p problems
	for _, r := range results {
		switch {
		case r.Passes() || !group(r.ID):
		case r.Status == model.ValidationPending:
			p.pending = append(p.pending, r.Message)
		default:
			p.failed = append(p.failed, r.Message)
		}
	}
	return p
}

func (p problems) none() bool { return len(p.failed)+len(p.pending) == 0 }

// messages lists the failures first: a pending rule often waits for their repair.
func (p problems) messages() []string { return slices.Concat(p.failed, p.pending) }

// among returns the group of the given rules, beside the group of all others.
func among(ids []string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func beside(ids []string) func(string) bool {
	return func(id string) bool { return !slices.Contains(ids, id) }
}
