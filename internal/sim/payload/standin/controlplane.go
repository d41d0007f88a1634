package standin

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// arbiters returns how many hosts only vote.
func (c *config) arbiters() int {
	if c.Arbiter == nil {
		return 0
	}
	return c.Arbiter.Replicas
}

// controlPlaneFits wants one, three to five, or two with somebody who decides when they lose sight of each
// other.
func (r *run) controlPlaneFits(c *config) field.ErrorList {
	var faults field.ErrorList
	at := field.NewPath("controlPlane")
	n := c.ControlPlane.Replicas
	if n <= 0 {
		faults = append(faults, field.Invalid(at.Child("replicas"), n, "number of control plane replicas must be positive"))
	}
	if n > 5 {
		faults = append(faults, field.Invalid(at.Child("replicas"), n, "number of control plane replicas must be at most 5"))
	}
	if len(c.Compute) != 1 || c.Compute[0].Name != "worker" {
		faults = append(faults, field.NotSupported(field.NewPath("compute").Index(0).Child("name"), "", []string{"worker"}))
	}
	for i, p := range c.Compute {
		if p.Fencing != nil {
			faults = append(faults, field.Forbidden(field.NewPath("compute").Index(i).Child("fencing"), "fencing is only valid for control plane"))
		}
	}
	if n == 1 && c.Platform.None != nil && (c.BootstrapInPlace == nil || c.BootstrapInPlace.InstallationDisk == "") {
		faults = append(faults, field.Required(field.NewPath("bootstrapInPlace", "installationDisk"), "required for a single node"))
	}
	return append(faults, append(c.arbiterFits(), c.fencingFits()...)...)
}

func (c *config) arbiterFits() field.ErrorList {
	if c.Arbiter == nil {
		return nil
	}
	at := field.NewPath("arbiter")
	var faults field.ErrorList
	if c.Arbiter.Name != "arbiter" {
		faults = append(faults, field.NotSupported(at.Child("name"), c.Arbiter.Name, []string{"arbiter"}))
	}
	if c.Arbiter.Replicas <= 0 {
		faults = append(faults, field.Invalid(at.Child("replicas"), c.Arbiter.Replicas, "arbiter machine pool must have at least one replica"))
	}
	if c.ControlPlane.Replicas < 2 {
		faults = append(faults, field.Invalid(field.NewPath("controlPlane", "replicas"), c.ControlPlane.Replicas,
			"number of controlPlane replicas must be at least 2 for arbiter deployments"))
	}
	if c.Platform.BareMetal == nil {
		faults = append(faults, field.Invalid(field.NewPath("platform"), "", "the platform is not supported with arbiter nodes"))
	}
	return faults
}

func (c *config) fencingFits() field.ErrorList {
	n, at := c.ControlPlane.Replicas, field.NewPath("controlPlane", "fencing")
	fenced := 0
	if c.ControlPlane.Fencing != nil {
		fenced = len(c.ControlPlane.Fencing.Credentials)
		if p := c.Platform; p.BareMetal == nil && p.External == nil && p.None == nil {
			return field.ErrorList{field.Forbidden(at, "fencing is only supported on baremetal, external or none platforms")}
		}
	}
	switch {
	case n == 2 && c.Arbiter == nil && fenced != 2:
		return field.ErrorList{field.Forbidden(at.Child("credentials"), fmt.Sprintf(
			"there should be exactly two fencing credentials to support the two node cluster, instead %d credentials were found",
			fenced))}
	case n != 2 && fenced != 0:
		return field.ErrorList{field.Forbidden(at.Child("credentials"), fmt.Sprintf(
			"there should not be any fencing credentials configured for a non dual replica control plane, "+
				"instead %d credentials were found",
			fenced))}
	}
	return nil
}

// gates of features that a release has as a preview: the first minor release that has them without.
var gates = []struct {
	name    string
	general int
	used    func(*config) bool
	path    *field.Path
	problem string
}{
	{
		"HighlyAvailableArbiter", 20, func(c *config) bool { return c.Arbiter != nil }, field.NewPath("arbiter"),
		"HighlyAvailableArbiter feature must be enabled in order to use arbiter cluster deployment",
	},
	{
		"DualReplica", 22, func(c *config) bool { return c.ControlPlane.Fencing != nil }, field.NewPath("controlPlane", "fencing"),
		"this field is protected by the DualReplica feature gate which must be enabled through either the TechPreviewNoUpgrade or " +
			"CustomNoUpgrade feature set",
	},
}

var gateEntry = regexp.MustCompile(`^[A-Za-z0-9]+=(true|false)$`)

// gatesFit wants the gate of every preview that is used (openshift/installer, pkg/types/validation/featuregates.go).
func (r *run) gatesFit(c *config) field.ErrorList {
	at := field.NewPath("featureGates")
	var faults field.ErrorList
	if set := c.FeatureSet; set != "" && !slices.Contains(featureSets, set) {
		faults = append(faults, field.NotSupported(field.NewPath("featureSet"), set, featureSets))
	}
	if len(c.FeatureGates) > 0 && c.FeatureSet != "CustomNoUpgrade" {
		faults = append(faults, field.Forbidden(at, "featureGates can only be used with the CustomNoUpgrade feature set"))
	}
	for i, entry := range c.FeatureGates {
		if !gateEntry.MatchString(entry) {
			faults = append(faults, field.Invalid(at.Index(i), entry, "must match the format <feature-name>=<bool>"))
		}
	}
	preview := c.FeatureSet == "TechPreviewNoUpgrade" || c.FeatureSet == "DevPreviewNoUpgrade"
	for _, g := range gates {
		if g.used(c) && r.minor < g.general && !preview && !slices.Contains(c.FeatureGates, g.name+"=true") {
			faults = append(faults, field.Forbidden(g.path, g.problem))
		}
	}
	return faults
}

var featureSets = []string{"TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade", "LatencySensitive", "OKD"}

// topologies returns the topologies that other operators decide by: where there is only one worker, what runs on workers has one replica.
func (s *state) topologies() (controlPlane, infrastructure string) {
	const many, one = "HighlyAvailable", "SingleReplica"
	switch n := s.Config.ControlPlane.Replicas; {
	case n == 1:
		return one, one
	case s.Config.Arbiter != nil:
		return "HighlyAvailableArbiter", many
	case n == 2:
		return "DualReplica", many
	case s.Config.Compute[0].Replicas == 1:
		return many, one
	}
	return many, many
}

// platformType returns the name of the platform in the cluster's own objects.
func (s *state) platformType() string {
	switch p := s.Config.Platform; {
	case p.BareMetal != nil:
		return "BareMetal"
	case p.VSphere != nil:
		return "VSphere"
	case p.Nutanix != nil:
		return "Nutanix"
	case p.External != nil:
		return "External"
	}
	return "None"
}

// roles lists the roles whose nodes have a config of their own.
func (s *state) roles() []string {
	if s.Config.Arbiter != nil {
		return []string{"master", "worker", "arbiter"}
	}
	return []string{"master", "worker"}
}
