package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"slipway/internal/model"
)

// KubeObject is a cluster or an InfraEnv that a resource of Kubernetes defines.
type KubeObject struct {
	Kind string // cluster or infra-env
	ID   uuid.UUID
	Key  model.KubeKey
}

// KubeObjects lists the objects of a tenant that resources of Kubernetes define.
func (s *Store) KubeObjects(ctx context.Context, t Tenant) ([]KubeObject, error) {
	rows, err := s.pool.Query(ctx, `
		select 'cluster', id, kube_key_namespace, kube_key_name from clusters
		where kube_key_name <> '' and deleted_at is null and `+ofTenant("doc")+`
		union all
		select 'infra-env', id, kube_key_namespace, kube_key_name from infra_envs
		where kube_key_name <> '' and deleted_at is null and `+ofTenant("doc")+`
		order by 1, 3, 4, 2`, t.args(nil))
	if err != nil {
		return nil, fmt.Errorf("list objects of Kubernetes: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o KubeObject, err error) {
		return o, row.Scan(&o.Kind, &o.ID, &o.Key.Namespace, &o.Key.Name)
	})
}

// KubeKey returns the resource of Kubernetes that defines a host, else an InfraEnv, else a cluster; the ids of the other kinds are zero. It
// is zero for an object that a user defines or that does not exist.
func (s *Store) KubeKey(ctx context.Context, clusterID, infraEnvID, hostID uuid.UUID) (model.KubeKey, error) {
	table, id := "clusters", clusterID
	if infraEnvID != uuid.Nil {
		table, id = "infra_envs", infraEnvID
	}
	var key model.KubeKey
	err := s.pool.QueryRow(ctx, `select kube_key_namespace, kube_key_name from `+table+` where id = $1`, id).Scan(&key.Namespace, &key.Name)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && key == model.KubeKey{}:
		return model.KubeKey{}, nil
	case err != nil:
		return key, fmt.Errorf("ask which resource defines %s: %w", id, err)
	case hostID != uuid.Nil:
		key.Name = hostID.String() // an Agent, in the namespace of its InfraEnv
	}
	return key, nil
}

// kubeKeyTaken returns an ErrConflict where err says that the resource defines another object.
func kubeKeyTaken(err error, namespace, name string) error {
	var failed *pgconn.PgError
	if errors.As(err, &failed) && failed.Code == uniqueViolation &&
		(failed.ConstraintName == "clusters_kube_key" || failed.ConstraintName == "infra_envs_kube_key") {
		return model.Conflictf("%s defines another object already", model.KubeKey{Namespace: namespace, Name: name})
	}
	return err
}

// uniqueViolation is the SQLSTATE of a row that a unique index has already (PostgreSQL, appendix A).
const uniqueViolation = "23505"
