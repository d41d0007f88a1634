package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// PutManifest adds or replaces a manifest. It returns an ErrInvalid when a manifest of a user with the same
// name exists in the other folder.
func (s *Store) PutManifest(ctx context.Context, m model.Manifest) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		var elsewhere int
		err := tx.QueryRow(ctx, `
			select count(*) from manifests where cluster_id = $1 and file_name = $2 and folder <> $3 and source = $4`,
			m.ClusterID, m.FileName, m.Folder, SourceUser).Scan(&elsewhere)
		if err != nil {
			return fmt.Errorf("look for manifest %s: %w", m.FileName, err)
		}
		if elsewhere > 0 {
			return errOtherFolder(m)
		}
		return putManifest(ctx, tx, m)
	})
}

// Manifests lists the manifests of a cluster by folder and name.
func (s *Store) Manifests(ctx context.Context, clusterID uuid.UUID) ([]model.Manifest, error) {
	rows, err := s.pool.Query(ctx, `
		select cluster_id, folder, file_name, source, blob_key, sha256, size
		from manifests where cluster_id = $1
		order by folder, file_name`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.Manifest, error) {
		var m model.Manifest
		err := row.Scan(&m.ClusterID, &m.Folder, &m.FileName, &m.Source, &m.Blob.Key, &m.Blob.SHA256, &m.Blob.Size)
		return m, err
	})
}

// DeleteManifest removes a manifest; it returns false when the manifest did not exist.
func (s *Store) DeleteManifest(ctx context.Context, clusterID uuid.UUID, folder, fileName string) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		delete from manifests where cluster_id = $1 and folder = $2 and file_name = $3`, clusterID, folder, fileName)
	if err != nil {
		return false, fmt.Errorf("delete manifest %s: %w", fileName, err)
	}
	return tag.RowsAffected() > 0, nil
}

// MonitoredOperators lists the operators a cluster waits for, by name.
func (s *Store) MonitoredOperators(ctx context.Context, clusterID uuid.UUID) ([]model.MonitoredOperator, error) {
	rows, err := s.pool.Query(ctx, `
		select cluster_id, name, type, version, namespace, subscription_name, properties,
		  timeout_seconds, status, status_info, status_updated_at
		from monitored_operators where cluster_id = $1
		order by name`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list monitored operators: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (model.MonitoredOperator, error) {
		var o model.MonitoredOperator
		var seconds int64
		var updated *time.Time
		err := row.Scan(&o.ClusterID, &o.Name, &o.Type, &o.Version, &o.Namespace, &o.SubscriptionName, &o.Properties, &seconds,
			&o.Status, &o.StatusInfo, &updated)
		o.Timeout, o.StatusUpdatedAt = time.Duration(seconds)*time.Second, orZero(updated)
		return o, err
	})
}

// ReportOperator records the state of one operator and what fn adds; it returns an
// ErrNotFound for an operator the cluster does not wait for.
func (s *Store) ReportOperator(ctx context.Context, o model.MonitoredOperator, fn func(*Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		tag, err := tx.Exec(ctx, `
			update monitored_operators set version = $3, status = $4, status_info = $5, status_updated_at = $6
			where cluster_id = $1 and name = $2`, o.ClusterID, o.Name, o.Version, o.Status, o.StatusInfo, t.now)
		if err != nil {
			return fmt.Errorf("report operator %s: %w", o.Name, err)
		}
		if tag.RowsAffected() == 0 {
			return model.NotFoundf("operator %s is not monitored in cluster %s", o.Name, o.ClusterID)
		}
		fn(t)
		return t.flush(ctx, tx)
	})
}

// DropOperators forgets the operators of a type that a cluster does not wait for any
// more: all but those kept.
func (t *Tx) DropOperators(clusterID uuid.UUID, kind string, keep []string) {
	t.batch.Queue(`
		delete from monitored_operators
		where cluster_id = $1
		  and type = $2
		  and name <> all ($3)`, clusterID, kind, keep)
}
