package agent

import (
	"context"

	"slipway/installer"
	"slipway/internal/wire"
)

func (a *Agent) diskClean(ctx context.Context, req *wire.InstallCmdRequest) (installer.CleanReport, error) {
	return a.installer.CleanDisk(ctx, req)
}

func (a *Agent) bootstrapStart(ctx context.Context, req *wire.BootstrapRequest) (nothing, error) {
	return nothing{}, a.installer.StartBootstrap(ctx, req)
}

func (a *Agent) ignitionFetch(ctx context.Context, req *wire.InstallCmdRequest) (installer.IgnitionReport, error) {
	return a.installer.FetchIgnition(ctx, req)
}

func (a *Agent) imageWrite(ctx context.Context, req *wire.InstallCmdRequest) (installer.ImageReport, error) {
	return a.installer.WriteImage(ctx, req)
}

func (a *Agent) controlPlaneWait(ctx context.Context, req *wire.InstallCmdRequest) (installer.ControlPlaneReport, error) {
	return a.installer.WaitControlPlane(ctx, req)
}

func (a *Agent) bootkubeWait(ctx context.Context, req *wire.InstallCmdRequest) (nothing, error) {
	return nothing{}, a.installer.WaitBootkube(ctx, req)
}

func (a *Agent) controllerWait(ctx context.Context, req *wire.InstallCmdRequest) (nothing, error) {
	return nothing{}, a.installer.WaitController(ctx, req)
}

// prepareReboot does the part of the step reboot before its reply, reboot the part after it: the
// service must know before the host is gone.
func (a *Agent) prepareReboot(ctx context.Context, req *wire.InstallCmdRequest) (nothing, error) {
	return nothing{}, a.installer.PrepareReboot(ctx, req)
}

func (a *Agent) reboot(ctx context.Context, args []string) error {
	req, err := argument[wire.InstallCmdRequest](args)
	if err != nil {
		return err
	}
	return a.installer.Reboot(ctx, req)
}

// install runs a whole installation as one step, as other implementations of the service command it.
func (a *Agent) install(ctx context.Context, req *wire.InstallCmdRequest) (nothing, error) {
	if a.options.InContainer != nil {
		return nothing{}, a.options.InContainer(ctx, req, a.installer.Install)
	}
	return nothing{}, a.installer.Install(ctx, req)
}

// stopInstallation ends what an installation left running on this host.
func (a *Agent) stopInstallation(ctx context.Context, _ []string) (string, error) {
	return "", a.tasks.stopInstallation(ctx)
}

func (a *Agent) logsGather(ctx context.Context, req *wire.LogsGatherCmdRequest) (nothing, error) {
	return nothing{}, a.installer.SendLogs(ctx, installer.LogsRequest{
		ClusterID: req.ClusterID, InfraEnvID: req.InfraEnvID, HostID: req.HostID,
		Bootstrap: req.Bootstrap, Gather: req.InstallerGather, MasterIPs: req.MasterIps,
	})
}
