package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// SourceUser and SourceSystem are the creators of a manifest.
const (
	SourceUser   = "user"
	SourceSystem = "system"
)

// ErrManifestTaken makes the error for a manifest that cannot take the place of another one.
func ErrManifestTaken(from, to model.Manifest) error {
	return model.Conflictf(
		"manifest %s cannot be moved to %s/%s: a manifest with this name exists there already",
		from.FileName,
		to.Folder,
		to.FileName,
	)
}

func errOtherFolder(m model.Manifest) error {
	return model.Invalidf("manifest %s exists in the other folder already: require one folder for a name", m.FileName)
}

// MoveManifest replaces a manifest by one with another folder or name, atomically. It returns an ErrConflict
// when a user's manifest has that place, an ErrInvalid when one of that name is in the other folder, and an
// ErrNotFound when the first does not exist.
func (s *Store) MoveManifest(ctx context.Context, from, to model.Manifest) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			delete from manifests where cluster_id = $1 and folder = $2 and file_name = $3`, from.ClusterID, from.Folder, from.FileName)
		if err != nil {
			return fmt.Errorf("move manifest %s: %w", from.FileName, err)
		}
		if tag.RowsAffected() == 0 {
			return model.NotFoundf("manifest %s was not found in folder %s", from.FileName, from.Folder)
		}
		var folder string
		err = tx.QueryRow(ctx, `
			select folder from manifests where cluster_id = $1 and file_name = $2 and source = $3`,
			to.ClusterID, to.FileName, SourceUser).Scan(&folder)
		switch {
		case err == nil && folder == to.Folder:
			return ErrManifestTaken(from, to)
		case err == nil:
			return errOtherFolder(to)
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("look for manifest %s: %w", to.FileName, err)
		}
		return putManifest(ctx, tx, to)
	})
}

// putManifest writes a row. A user's manifest replaces one of the service, whatever folder that is in.
func putManifest(ctx context.Context, tx pgx.Tx, m model.Manifest) error {
	if m.Source == SourceUser {
		_, err := tx.Exec(ctx, `
			delete from manifests where cluster_id = $1 and file_name = $2 and source = $3`, m.ClusterID, m.FileName, SourceSystem)
		if err != nil {
			return fmt.Errorf("replace manifest %s: %w", m.FileName, err)
		}
	}
	sql, args := manifestTable.insert(manifestTable.record(rowOfManifest(&m)))
	_, err := tx.Exec(ctx, sql+` on conflict (cluster_id, folder, file_name) do update set `+manifestTable.excluded(), args...)
	if err != nil {
		return fmt.Errorf("write manifest %s: %w", m.FileName, err)
	}
	return nil
}

// ReplaceSystemManifests replaces all manifests that the service made for a cluster. A manifest of a user with
// the same name, in either folder, stays; the result lists the manifests that were left out for that.
func (s *Store) ReplaceSystemManifests(
	ctx context.Context,
	clusterID uuid.UUID,
	all []model.Manifest,
) (leftOut []model.Manifest, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		leftOut = nil
		if _, err := tx.Exec(ctx, `delete from manifests where cluster_id = $1 and source = $2`, clusterID, SourceSystem); err != nil {
			return fmt.Errorf("replace manifests of the service: %w", err)
		}
		for _, m := range all {
			var theirs int
			err := tx.QueryRow(ctx, `
				select count(*) from manifests where cluster_id = $1 and file_name = $2 and source = $3`,
				clusterID, m.FileName, SourceUser).Scan(&theirs)
			if err != nil {
				return fmt.Errorf("look for manifest %s: %w", m.FileName, err)
			}
			if theirs > 0 {
				leftOut = append(leftOut, m)
				continue
			}
			m.ClusterID, m.Source = clusterID, SourceSystem
			if err := putManifest(ctx, tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	return leftOut, err
}
