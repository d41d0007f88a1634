package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// HostAccess is what decides about the credentials of a host.
type HostAccess struct {
	Generation int // model.Host.TokenGeneration
	Status     model.HostStatus
	ClusterID  uuid.UUID // zero: none
	Bootstrap  bool
	TokenKey   model.Secret // of its InfraEnv
}

// HostAccess reads it; model.ErrNotFound without the host.
func (s *Store) HostAccess(ctx context.Context, infraEnvID, hostID uuid.UUID) (HostAccess, error) {
	var a HostAccess
	var cluster *uuid.UUID
	var sealed []byte
	err := s.pool.QueryRow(ctx, `
		select coalesce((h.doc->>'token_generation')::int, 0), h.status, h.cluster_id, h.bootstrap, e.secrets
		from hosts h join infra_envs e on e.id = h.infra_env_id
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, infraEnvID, hostID).
		Scan(&a.Generation, &a.Status, &cluster, &a.Bootstrap, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, model.NotFoundf("host %s was not found", hostID)
	}
	if err != nil {
		return a, fmt.Errorf("read what host %s may do: %w", hostID, err)
	}
	if cluster != nil {
		a.ClusterID = *cluster
	}
	var secrets infraEnvSecrets
	err = s.open(sealed, infraEnvID, &secrets)
	a.TokenKey = model.Secret(secrets.TokenKey)
	return a, err
}

// ClusterAccess is what decides about the credentials of a cluster's controller.
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
