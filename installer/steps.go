package installer

import (
	"context"

	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// Run carries out a step of an installation and returns its output, which is JSON on the wire. Steps but BootstrapStart read the
// InstallCmdRequest in the request only.
type Run func(ctx context.Context, req *wire.BootstrapRequest) (output any, err error)

// Steps returns how the steps of an installation run, which package steps lists by their stages. After Reboot, once its reply is sent, the
// host has to leave by Installer.Reboot.
func (i *Installer) Steps() map[wire.StepType]Run {
	return map[wire.StepType]Run{
		steps.DiskClean: reporting(i.CleanDisk),
		steps.BootstrapStart: func(ctx context.Context, req *wire.BootstrapRequest) (any, error) {
			return nothing{}, i.StartBootstrap(ctx, req)
		},
		steps.IgnitionFetch:    reporting(i.FetchIgnition),
		steps.ImageWrite:       reporting(i.WriteImage),
		steps.ControlPlaneWait: reporting(i.WaitControlPlane),
		steps.BootkubeWait:     silent(i.WaitBootkube),
		steps.ControllerWait:   silent(i.WaitController),
		steps.Reboot:           silent(i.PrepareReboot),
	}
}

// nothing is the output of steps that report only their end: an empty object.
type nothing struct{}

func reporting[Report any](do func(context.Context, *wire.InstallCmdRequest) (Report, error)) Run {
	return func(ctx context.Context, req *wire.BootstrapRequest) (any, error) {
		return do(ctx, &req.InstallCmdRequest)
	}
}

func silent(do func(context.Context, *wire.InstallCmdRequest) error) Run {
	return func(ctx context.Context, req *wire.BootstrapRequest) (any, error) {
		return nothing{}, do(ctx, &req.InstallCmdRequest)
	}
}
