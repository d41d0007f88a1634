package installer

import (
	"context"
	"fmt"
	"time"

	"slipway/internal/wire"
)

const (
	// converged exists when another agent controls the host's power; it reboots the host once our service has
	// ended.
	converged = "/etc/systemd/system/ironic-agent.service"
	// farewellLimit bounds the sending of logs and the setting of the boot order, which are optional, before a
	// reboot: some firmware hangs.
	farewellLimit = 5 * time.Minute
)

// PrepareReboot does what should happen before the host leaves the live image: its logs
// are sent and the boot order is set, both as far as they go. The commands: SendLogs, SetBootOrder.
func (i *Installer) PrepareReboot(ctx context.Context, req *wire.InstallCmdRequest) error {
	limited, cancel := within(ctx, i.FarewellLimit)
	defer cancel()
	err := i.SendLogs(limited, LogsRequest{
		ClusterID: req.ClusterID, InfraEnvID: req.InfraEnvID, HostID: req.HostID, Bootstrap: bootstrapHost(req),
	})
	if err != nil && ctx.Err() == nil {
		i.Log.Warn("logs not sent", "error", err)
	}
	limited, cancel = within(ctx, i.FarewellLimit) // of its own: the logs may have used up theirs
	defer cancel()
	i.SetBootOrder(limited, req)
	return ctx.Err()
}

// Reboot starts the host again from its disk: in a minute, so that the caller gets a reply; at once on a single
// node, where nothing else waits.
//
//	shutdown -r +1                              single node: shutdown -r now
func (i *Installer) Reboot(ctx context.Context, req *wire.InstallCmdRequest) error {
	argv := []string{"shutdown", "-r", "+1"}
	switch {
	case i.exists(converged):
		argv = []string{"systemctl", "stop", "agent.service"}
	case singleNode(req):
		argv = []string{"shutdown", "-r", "now"}
	}
	if err := i.command(ctx, argv...); err != nil {
		return fmt.Errorf("reboot the host: %w", err)
	}
	return nil
}
