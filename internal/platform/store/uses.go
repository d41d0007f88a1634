package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// ClusterUses counts what the manifests and discovery environments of a cluster use.
func (s *Store) ClusterUses(ctx context.Context, clusterID uuid.UUID) (model.Uses, error) {
	var uses model.Uses
	err := s.pool.QueryRow(ctx, `
		select
		  (select count(*) from manifests where cluster_id = $1 and source = $2),
		  count(*) filter (where doc ? 'static_network_config'),
		  count(*) filter (where doc ? 'kernel_arguments'),
		  count(*) filter (where doc ? 'ignition_config_override')
		from infra_envs where cluster_id = $1 and deleted_at is null`, clusterID, SourceUser).
		Scan(&uses.CustomManifests, &uses.StaticNetworks, &uses.KernelArguments, &uses.IgnitionOverrides)
	if err != nil {
		return uses, fmt.Errorf("count what cluster %s uses: %w", clusterID, err)
	}
	return uses, nil
}
