package activities

import (
	"context"
	"fmt"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/platform/blob"
)

// GenerateHostIgnition stores the Ignition config of a host that joins an existing cluster.
// An error in what the user gave is not retried.
func (a *Files) GenerateHostIgnition(ctx context.Context, r HostRef) error {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return nonRetryable(err)
	}
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return nonRetryable(err)
	}
	config, err := ignition.DayTwo(c, h)
	if err != nil {
		return refuse(err)
	}
	if _, err := a.Blob.PutSecret(ctx, blob.ClusterFile(c.ID, ignition.HostFileName(h.EffectiveRole(), h.ID)), config); err != nil {
		return fmt.Errorf("store the Ignition of host %s: %w", h.ID, err)
	}
	return nil
}
