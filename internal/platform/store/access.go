package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// HostAccess holds the facts that decide about the credentials of a host.
type HostAccess struct {
	Generation int // model.Host.TokenGeneration
	Status     model.HostStatus
	Stage      model.Stage
	ClusterID  uuid.UUID // zero: none
	Bootstrap  bool
	KeyName    string // of the key that signs for its InfraEnv: model.KeyName
}

// accessColumns are read of a host h in an InfraEnv e, secrets where the name of their key is not kept.
const accessColumns = `h.token_generation, h.status, h.stage, h.cluster_id, h.bootstrap, e.token_key_name,
	case when e.token_key_name = '' then e.secrets end`

const accessJoin = ` join infra_envs e on e.id = h.infra_env_id`

type accessRow struct {
	HostAccess
	cluster *[16]byte // plain bytes spare the driver a detour through text
	sealed  []byte
}

func (a *accessRow) targets() []any {
	return []any{&a.Generation, &a.Status, &a.Stage, &a.cluster, &a.Bootstrap, &a.KeyName, &a.sealed}
}

// access returns what was read of a host. The name of a key that was not kept is kept, unless the secrets have changed meanwhile.
func (s *Store) access(ctx context.Context, a *accessRow, infraEnvID uuid.UUID) (HostAccess, error) {
	if a.cluster != nil {
		a.ClusterID = *a.cluster
	}
	if a.KeyName != "" {
		return a.HostAccess, nil
	}
	var secrets infraEnvSecrets
	if err := s.open(sealedInfraEnvs, a.sealed, infraEnvID, &secrets); err != nil {
		return HostAccess{}, err
	}
	a.KeyName = model.KeyName(model.Secret(secrets.TokenKey))
	_, err := s.pool.Exec(ctx, `
		update infra_envs set token_key_name = $3 where id = $1 and secrets = $2 and token_key_name = ''`, infraEnvID, a.sealed, a.KeyName)
	if err != nil {
		return HostAccess{}, fmt.Errorf("keep the name of the key of infra-env %s: %w", infraEnvID, err)
	}
	return a.HostAccess, nil
}

// HostAccess reads it; model.ErrNotFound without the host. See WithFirstLook.
func (s *Store) HostAccess(ctx context.Context, infraEnvID, hostID uuid.UUID) (HostAccess, error) {
	var a accessRow
	if look := firstLookOf(ctx); look != nil {
		v, err := s.poll(ctx, infraEnvID, hostID, ", "+accessColumns, accessJoin, a.targets()...)
		if err != nil {
			return HostAccess{}, err
		}
		look.view.Store(&polled{infraEnvID, hostID, v})
		return s.access(ctx, &a, infraEnvID)
	}
	err := s.pool.QueryRow(ctx, `
		select `+accessColumns+` from hosts h`+accessJoin+`
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, [16]byte(infraEnvID), [16]byte(hostID)).Scan(a.targets()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return HostAccess{}, model.NotFoundf("host %s was not found", hostID)
	}
	if err != nil {
		return HostAccess{}, fmt.Errorf("read what host %s may do: %w", hostID, err)
	}
	return s.access(ctx, &a, infraEnvID)
}

// BootstrapState reads how far the host is that bootstraps a cluster; model.ErrNotFound without one.
func (s *Store) BootstrapState(ctx context.Context, clusterID uuid.UUID) (model.HostStatus, model.Stage, error) {
	var status model.HostStatus
	var stage model.Stage
	err := s.pool.QueryRow(ctx, `
		select status, stage from hosts
		where cluster_id = $1 and bootstrap and deleted_at is null
		order by created_at, id limit 1`, clusterID).Scan(&status, &stage)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", model.NotFoundf("cluster %s has no bootstrap host", clusterID)
	}
	if err != nil {
		return "", "", fmt.Errorf("read the bootstrap host of cluster %s: %w", clusterID, err)
	}
	return status, stage, nil
}

// ClusterAccess holds the facts that decide about the credentials of a cluster's controller.
type ClusterAccess struct {
	Status  model.ClusterStatus
	Attempt int // model.Cluster.InstallAttempt
}

// ClusterAccess reads it; model.ErrNotFound without the cluster.
func (s *Store) ClusterAccess(ctx context.Context, id uuid.UUID) (ClusterAccess, error) {
	var a ClusterAccess
	err := s.pool.QueryRow(ctx, `select status, install_attempt from clusters where id = $1 and deleted_at is null`, id).
		Scan(&a.Status, &a.Attempt)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, model.NotFoundf("cluster %s was not found", id)
	}
	if err != nil {
		return a, fmt.Errorf("read what the controller of cluster %s may do: %w", id, err)
	}
	return a, nil
}
