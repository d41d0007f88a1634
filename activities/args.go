package activities

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/steps"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// StepArgs makes the arguments of steps from the cluster, its hosts and its release.
type StepArgs struct {
	Store    *store.Store
	Releases *release.Releases
	// InstallerImage and ControllerImage are names that v2 agents receive; the agent of this service contains both.
	InstallerImage, ControllerImage string
	Timeouts                        Timeouts
	// Dummy leaves the components of the release out, see Files.
	Dummy bool
	// Disabled are the types of checks that hosts are not asked to run.
	Disabled []string
	// CheckClusterVersion makes the controllers of new clusters wait for their version.
	CheckClusterVersion bool
	// BootArtifacts says where the discovery image of an environment is, in parts; nil when
	// no image is served.
	BootArtifacts func(*model.InfraEnv) (duesteps.BootArtifacts, error)
}

func (a *StepArgs) bootArtifacts(e *model.InfraEnv) (duesteps.BootArtifacts, error) {
	if a.BootArtifacts == nil {
		return duesteps.BootArtifacts{}, model.Invalidf("require an image service to take hosts back, found none")
	}
	return a.BootArtifacts(e)
}

// StepArgs implements ArgsBuilder.
func (a *StepArgs) StepArgs(ctx context.Context, stepType string, c *model.Cluster, h *model.Host) ([]string, error) {
	step := wire.StepType(stepType)
	row, _ := steps.Of(step)
	if row.Check && slices.Contains(a.Disabled, stepType) {
		return nil, nil
	}
	in := duesteps.ArgsInput{
		Host: h, Cluster: c, DiskCheck: a.Timeouts.DiskCheck, ImageAvailability: a.Timeouts.ImageAvailability,
		CheckClusterVersion: a.CheckClusterVersion,
	}
	var err error
	if in.InfraEnv, err = a.Store.InfraEnv(ctx, h.InfraEnvID); err != nil {
		return nil, err
	}
	if row.Needs.BootArtifacts {
		if in.BootArtifacts, err = a.bootArtifacts(in.InfraEnv); err != nil {
			return nil, err
		}
	}
	// Reading all hosts for every step of every host would make an installation cost the
	// square of its size.
	if row.Needs.Hosts {
		if in.Hosts, err = a.Store.ClusterHosts(ctx, c.ID); err != nil {
			return nil, err
		}
	}
	if row.Needs.Release {
		if in.Images, err = a.images(ctx, c, in.InfraEnv); err != nil {
			return nil, err
		}
	}
	args, err := duesteps.Args(step, in)
	if errors.Is(err, duesteps.ErrSkip) {
		return nil, nil
	}
	if args == nil && err == nil {
		args = []string{}
	}
	return args, err
}

// Components of a release that steps name.
const (
	componentMCO        = "machine-config-operator"
	componentMustGather = "must-gather"
)

// images come from the cluster once they are frozen, from the registry before.
func (a *StepArgs) images(ctx context.Context, c *model.Cluster, e *model.InfraEnv) (duesteps.Images, error) {
	images := duesteps.Images{
		Installer: a.InstallerImage, Controller: a.ControllerImage, Release: c.ReleaseImage, MustGather: map[string]string{},
	}
	components := c.ReleaseComponents
	if components == nil && c.ReleaseImage != "" && !a.Dummy { // an imported cluster has a release of its own
		secret := cmp.Or(c.PullSecret, e.PullSecret) // an imported cluster has none
		info, err := a.Releases.Info(ctx, c.ReleaseImage, secret)
		if err != nil {
			return images, err
		}
		components = info.Images
	}
	images.MCO = components[componentMCO]
	if image, ok := components[componentMustGather]; ok {
		images.MustGather["ocp"] = image
	}
	return images, nil
}
