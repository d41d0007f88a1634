package agent

import (
	"context"

	"slipway/installer"
	"slipway/internal/wire"
)

// reboot follows the reply of the step reboot, PrepareReboot comes before it: the service must know before the host is gone.
func (a *Agent) reboot(ctx context.Context, args []string) error {
	req, err := argument[wire.InstallCmdRequest](args)
	if err != nil {
		return err
	}
	return a.installer.Reboot(ctx, req)
}

// install runs a whole installation as one step, as other implementations of the service command it.
func (a *Agent) install(ctx context.Context, req *wire.InstallCmdRequest) error {
	if a.options.InContainer != nil {
		return a.options.InContainer(ctx, req, a.installer.Install)
	}
	return a.installer.Install(ctx, req)
}

// stopInstallation ends what an installation left running on this host.
func (a *Agent) stopInstallation(ctx context.Context, _ []string) (string, error) {
	return "", a.tasks.stopInstallation(ctx)
}

func (a *Agent) logsGather(ctx context.Context, req *wire.LogsGatherCmdRequest) error {
	return a.installer.SendLogs(ctx, installer.LogsRequest{
		ClusterID: req.ClusterID, InfraEnvID: req.InfraEnvID, HostID: req.HostID,
		Bootstrap: req.Bootstrap, Gather: req.InstallerGather, MasterIPs: req.MasterIps,
	})
}
