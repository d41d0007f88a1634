package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// manifestRow is a row of table manifests.
type manifestRow struct {
	*model.Manifest
	*model.BlobRef
}

var manifestTable = tableOf[manifestRow](layout{name: "manifests", key: []string{"cluster_id", "folder", "file_name"}})

var manifestColumns = manifestTable.selects()

func rowOfManifest(m *model.Manifest) *manifestRow { return &manifestRow{m, &m.Blob} }

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
		select `+manifestColumns+`
		from manifests where cluster_id = $1
		order by folder, file_name`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m model.Manifest, err error) {
		err = manifestTable.scan(row, rowOfManifest(&m))
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
