package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// HostCounts counts the hosts of the given clusters, of all clusters when none is given.
// A cluster without hosts has no entry.
func (s *Store) HostCounts(ctx context.Context, clusters ...uuid.UUID) (map[uuid.UUID]model.HostCounts, error) {
	rows, err := s.pool.Query(ctx, `
		select cluster_id, count(*), count(*) filter (where status <> 'disabled'), count(*) filter (where status = 'known'),
		  count(*) filter (where role = 'worker' or role = 'auto-assign' and suggested_role = 'worker')
		from hosts
		where deleted_at is null and cluster_id is not null and ($1::uuid[] is null or cluster_id = any ($1))
		group by cluster_id`, nilIfEmpty(clusters))
	if err != nil {
		return nil, fmt.Errorf("count hosts: %w", err)
	}
	out := map[uuid.UUID]model.HostCounts{}
	var id uuid.UUID
	var n model.HostCounts
	_, err = pgx.ForEachRow(rows, []any{&id, &n.Total, &n.Enabled, &n.Ready, &n.Workers}, func() error {
		out[id] = n
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count hosts: %w", err)
	}
	return out, nil
}

// OperatorsByCluster lists the operators of the given clusters, of all clusters that are not deleted when none is given, by name.
func (s *Store) OperatorsByCluster(ctx context.Context, clusters ...uuid.UUID) (map[uuid.UUID][]model.MonitoredOperator, error) {
	rows, err := s.pool.Query(ctx, `
		select `+operatorColumns+`
		from monitored_operators o
		join clusters c on c.id = o.cluster_id and c.deleted_at is null
		where $1::uuid[] is null or o.cluster_id = any ($1)
		order by o.cluster_id, o.name`, nilIfEmpty(clusters))
	if err != nil {
		return nil, fmt.Errorf("list monitored operators: %w", err)
	}
	out := map[uuid.UUID][]model.MonitoredOperator{}
	err = visit(rows, scanOperator, func(o model.MonitoredOperator) error {
		out[o.ClusterID] = append(out[o.ClusterID], o)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list monitored operators: %w", err)
	}
	return out, nil
}

// SingleNodeClusters returns which clusters of the hosts of an InfraEnv, of all hosts for a zero id, have one control plane host: the
// stages of a host depend on it.
func (s *Store) SingleNodeClusters(ctx context.Context, infraEnvID uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := s.pool.Query(ctx, `
		select c.id from clusters c
		where c.doc->>'control_plane_count' = '1'
		  and c.id in (
		    select h.cluster_id from hosts h
		    where ($1::uuid is null or h.infra_env_id = $1) and h.bootstrap and h.deleted_at is null)`, uuidOrNull(infraEnvID))
	if err != nil {
		return nil, fmt.Errorf("look for single-node clusters: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("look for single-node clusters: %w", err)
	}
	out := map[uuid.UUID]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out, nil
}

// ClusterUses counts the features that the manifests and InfraEnvs of a cluster use.
func (s *Store) ClusterUses(ctx context.Context, clusterID uuid.UUID) (model.Uses, error) {
	var uses model.Uses
	err := s.pool.QueryRow(ctx, `
		select
		  (select count(*) from manifests where cluster_id = $1 and source = $2),
		  count(*) filter (where doc ? 'static_network_config'),
		  count(*) filter (where doc ? 'static_network_waits'),
		  count(*) filter (where doc ? 'kernel_arguments'),
		  count(*) filter (where doc ? 'ignition_config_override')
		from infra_envs where cluster_id = $1 and deleted_at is null`, clusterID, SourceUser).
		Scan(&uses.CustomManifests, &uses.StaticNetworks, &uses.WaitingNetworks, &uses.KernelArguments, &uses.IgnitionOverrides)
	if err != nil {
		return uses, fmt.Errorf("count what cluster %s uses: %w", clusterID, err)
	}
	return uses, nil
}
