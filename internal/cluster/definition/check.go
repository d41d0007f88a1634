package definition

import (
	"cmp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// controlPlanes are the sizes a control plane may have, and the OpenShift version that added each
// (docs/reference/features.md, "Control plane sizes"); "" is any version.
var controlPlanes = map[int]string{1: "", 2: "4.19", 3: "", 4: "4.18", 5: "4.18"}

// Surroundings are the hosts and InfraEnvs of a cluster that a change of its definition must fit.
type Surroundings struct {
	Hosts     []*model.Host
	InfraEnvs []*model.InfraEnv
}

// Needs reports which surroundings a change depends on: hosts decide what a control plane of one or two is and which VIPs are
// free, InfraEnvs whether an external platform can boot and which architectures the network must serve.
func Needs(c *model.Cluster, p wire.V2ClusterUpdateParams) (hosts, infraEnvs bool) {
	if c.DayTwo() {
		return false, false
	}
	hosts = min(c.ControlPlaneCount, cmp.Or(deref(p.ControlPlaneCount), c.ControlPlaneCount)) < minControlPlane
	hosts = hosts || p.APIVips != nil || p.IngressVips != nil
	return hosts, p.Platform != nil || p.UserManagedNetworking != nil && !*p.UserManagedNetworking
}

// check checks a definition as a whole, after all settings are applied.
func check(c *model.Cluster, around Surroundings) error {
	for _, rule := range []func(*model.Cluster) error{checkControlPlane, checkFamilyOrder} {
		if err := rule(c); err != nil {
			return err
		}
	}
	if err := operators.Features.Check(c, featuresOf(c, around)); err != nil {
		return err
	}
	for _, env := range around.InfraEnvs {
		if err := checkArchitecture(c, env); err != nil {
			return err
		}
	}
	return checkLeasing(c)
}

// CheckInfraEnv refuses an image that the platform of its cluster cannot boot, and an architecture whose hosts the network
// of the cluster cannot serve, with a model.ErrInvalid.
func CheckInfraEnv(c *model.Cluster, e *model.InfraEnv) error {
	if c.DayTwo() {
		return nil
	}
	if err := operators.Features.Check(c, operators.Features.Used(c, nil, e)); err != nil {
		return err
	}
	return checkArchitecture(c, e)
}

// checkArchitecture refuses an architecture without cluster-managed networking, which some releases for several architectures have.
func checkArchitecture(c *model.Cluster, e *model.InfraEnv) error {
	if e.CPUArchitecture == "" || c.UserManagedNetworking {
		return nil
	}
	setting := features.SettingOf(c)
	setting.Architecture = e.CPUArchitecture
	return operators.Features.CheckIn(setting, []features.ID{features.ClusterManagedNetworking})
}

// featuresOf lists the features that a definition, its hosts and its InfraEnvs use.
func featuresOf(c *model.Cluster, around Surroundings) []features.ID {
	used := operators.Features.Used(c, around.Hosts, nil)
	for _, env := range around.InfraEnvs {
		for _, id := range operators.Features.Used(c, around.Hosts, env) {
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
		return model.Invalidf(
			"control_plane_count: require OpenShift %s for %d hosts, found %s",
			since,
			c.ControlPlaneCount,
			c.OpenShiftVersion,
		)
	}
	return nil
}

func parseVersion(field, text string) (*semver.Version, error) {
	version, err := semver.NewVersion(text)
	if err != nil {
		return nil, model.Invalidf("%s: require a version such as 4.22 or 4.22.9, found %q", field, model.Abridged(text))
	}
	return version, nil
}

// minControlPlane is the smallest control plane that needs no further host.
const minControlPlane = 3
