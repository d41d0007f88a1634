package activities

import (
	"context"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// beginsBootstrap reports whether a step lets a host start a temporary control plane. Agents of other implementations do
// so within their only step.
func beginsBootstrap(step wire.StepType, c *model.Cluster, h *model.Host) bool {
	switch step {
	case steps.BootstrapStart:
		return true
	case wire.StepTypeInstall:
		return h.Bootstrap || c != nil && c.SingleNode() && !h.DayTwo()
	}
	return false
}

// noteBootstrap remembers the boot in which a host is asked to begin a bootstrap, before it is: a reset from then on needs
// another boot.
func (a *Steps) noteBootstrap(ctx context.Context, r HostRef) error {
	_, err := a.Store.UpdateHost(ctx, r.InfraEnvID, r.HostID, func(h *model.Host, _ *store.Tx) error {
		h.BootstrapBoot = h.Boot
		return nil
	})
	return err
}
