package api

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// controlPlanes are the sizes a control plane may have, and the version each came with
// (docs/reference/features.md, "Control plane sizes"); "" for always.
var controlPlanes = map[int]string{1: "", 2: "4.19", 3: "", 4: "4.18", 5: "4.18"}

// surroundings are the hosts and discovery environments of a cluster, as far as a change
// of its definition has to go with them.
type surroundings struct {
	hosts []*model.Host
	envs  []*model.InfraEnv
}

// checkDefinition holds a definition as a whole, after all of its parts were set.
func checkDefinition(c *model.Cluster, around surroundings) error {
	for _, check := range []func(*model.Cluster) error{checkControlPlane, checkFamilyOrder} {
		if err := check(c); err != nil {
			return err
		}
	}
	if err := openshift.Check(c, featuresOf(c, around)); err != nil {
		return err
	}
	return checkLeasing(c)
}

// featuresOf lists the features that a definition, its hosts and any of its discovery
// environments use.
func featuresOf(c *model.Cluster, around surroundings) []openshift.FeatureID {
	used := openshift.FeaturesOf(c, around.hosts, nil)
	for _, env := range around.envs {
		for _, id := range openshift.FeaturesOf(c, around.hosts, env) {
			if !slices.Contains(used, id) {
				used = append(used, id)
			}
		}
	}
	return used
}

func checkControlPlane(c *model.Cluster) error {
	since, known := controlPlanes[c.ControlPlaneCount]
	if !known {
		return model.Invalidf("control_plane_count: require 1 to 5, found %d", c.ControlPlaneCount)
	}
	if since == "" {
		return nil
	}
	version, err := parseVersion("openshift_version", c.OpenShiftVersion)
	if err != nil || version.LessThan(semver.MustParse(since+".0-0")) {
		return model.Invalidf("control_plane_count: require OpenShift %s for %d hosts, found %s", since, c.ControlPlaneCount, c.OpenShiftVersion)
	}
	return nil
}

func parseVersion(field, text string) (*semver.Version, error) {
	version, err := semver.NewVersion(text)
	if err != nil {
		return nil, model.Invalidf("%s: require a version such as 4.22 or 4.22.9, found %q", field, abridged(text))
	}
	return version, nil
}

// minControlPlane is the size from which on a control plane needs no more than its hosts.
const minControlPlane = 3
