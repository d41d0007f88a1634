package activities

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/steps"
	"slipway/internal/cluster/validation"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// StepArgs makes the arguments of steps from the cluster, its hosts and its release.
type StepArgs struct {
	Store    *store.Store
	Releases *release.Releases
	// InstallerImage is the installer for agents of other implementations. ControllerImage contains the controller. Where one is empty,
	// Slipway agents need none, and other agents get the public image of their project.
	InstallerImage, ControllerImage string
	// ControllerPrograms lists the programs of the controller, by architecture; nil: there are none.
	ControllerPrograms func() (map[string]wire.AgentProgram, error)
	// MustGatherImages are the images of operators, and images that replace a release's.
	MustGatherImages openshift.MustGatherImages
	Timeouts         Timeouts
	// Dummy leaves the components of the release out, see Files.
	Dummy bool
	// Disabled are the types of checks that hosts are not asked to run.
	Disabled []string
	// CheckClusterVersion makes the controllers of new clusters wait for their version.
	CheckClusterVersion bool
	// KeepMCOReboot has agents of other implementations boot once more, for the machine config.
	KeepMCOReboot bool
	// ControllerToken makes the credential of an installation's controller; nil: the controller uses its agent's.
	ControllerToken func(clusterID uuid.UUID, attempt int) (model.Secret, error)
	// BootArtifacts says where the discovery image of an InfraEnv is, in parts; nil when
	// no image is served.
	BootArtifacts func(*model.InfraEnv) (duesteps.BootArtifacts, error)
}

func (a *StepArgs) bootArtifacts(e *model.InfraEnv) (duesteps.BootArtifacts, error) {
	if a.BootArtifacts == nil {
		return duesteps.BootArtifacts{}, model.Invalidf("an image service is required to take hosts back")
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
		CheckClusterVersion: a.CheckClusterVersion, KeepMCOReboot: a.KeepMCOReboot,
	}
	var err error
	if in.InfraEnv, err = a.Store.InfraEnvOf(ctx, h); err != nil {
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
		if in.Images, err = a.images(ctx, c, in.InfraEnv, h); err != nil {
			return nil, err
		}
		a.nameImages(h, &in.Images)
	}
	if row.Argument == steps.ArgumentInstall && a.ControllerPrograms != nil {
		if in.ControllerPrograms, err = a.ControllerPrograms(); err != nil {
			return nil, err
		}
	}
	if row.Argument == steps.ArgumentInstall && h.Bootstrap && c != nil && a.ControllerToken != nil {
		if in.ControllerToken, err = a.ControllerToken(c.ID, c.InstallAttempt); err != nil {
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
	componentCLI        = "cli"
)

// componentsCoreOS names the operating system of a node: OpenShift's first, then OKD's; a release has one of them.
var componentsCoreOS = []string{"rhel-coreos", "stream-coreos", "fedora-coreos"}

func operatingSystem(components map[string]string) string {
	for _, name := range componentsCoreOS {
		if image := components[name]; image != "" {
			return image
		}
	}
	return ""
}

// Images that agents of other implementations use by default (openshift/assisted-service,
// internal/host/hostcommands/instruction_manager.go). They are named by tag: their project publishes no digests to compare, and which
// build fits depends on the agent that asks. INSTALLER_IMAGE and CONTROLLER_IMAGE name others, by digest where that is wanted; every
// image of a release is named by its digest.
const (
	ForeignInstaller  = "quay.io/edge-infrastructure/assisted-installer:latest"
	ForeignController = "quay.io/edge-infrastructure/assisted-installer-controller:latest"
)

// nameImages names the images of installer and controller for the agent of a host. Ours contains the installer, and
// runs the controller in an image of the release.
func (a *StepArgs) nameImages(h *model.Host, images *duesteps.Images) {
	images.Installer, images.Controller = a.InstallerImage, a.ControllerImage
	if h.AgentSteps != model.FineSteps {
		images.Installer, images.Controller = cmp.Or(images.Installer, ForeignInstaller), cmp.Or(images.Controller, ForeignController)
	}
	if a.Dummy { // no release was read: nothing of it runs
		images.Controller = cmp.Or(images.Controller, ForeignController)
	}
}

// images come from the cluster once they are frozen, from the registry before.
func (a *StepArgs) images(ctx context.Context, c *model.Cluster, e *model.InfraEnv, h *model.Host) (duesteps.Images, error) {
	images := duesteps.Images{
		Release: c.PinnedRelease(), MustGather: map[string]string{},
	}
	components := c.ReleaseComponents
	// A cluster that an earlier version of the service prepared lacks the images that bootstrap hosts and hosts that
	// run from a disk name.
	missing := components == nil ||
		h.Bootstrap && components[componentCLI] == "" ||
		validation.RunsFromDisk(h) && validation.WorkerOSImage(h) == "" && operatingSystem(components) == ""
	if missing && c.ReleaseImage != "" && !a.Dummy { // an imported cluster has a release of its own
		secret := cmp.Or(c.PullSecret, e.PullSecret) // an imported cluster has none
		info, err := a.Releases.Info(ctx, c.PinnedRelease(), secret)
		if err != nil {
			return images, err
		}
		components = info.Images
	}
	images.MCO, images.CLI, images.CoreOS = components[componentMCO], components[componentCLI], operatingSystem(components)
	if image, ok := components[componentMustGather]; ok {
		images.MustGather["ocp"] = image
	}
	maps.Copy(images.MustGather, a.MustGatherImages.For(c))
	return images, nil
}
