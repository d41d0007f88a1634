package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// Version returns the place in the feed of the newest change of what is read. Whoever reads after that sees this change and all before:
// the same version is the same content, but for when hosts were heard last. behind reports that something of it changed since it was
// evaluated.
func (s *Store) Version(ctx context.Context, of Reading) (version Cursor, behind bool, err error) {
	newest, args := `f.last`, []any{}
	switch {
	case of.InfraEnvs && of.InfraEnvID != uuid.Nil:
		newest = `(select n from changes where object_id = $1 and infra_env_id = $1 and kind = 'infra-env')`
		args = []any{of.InfraEnvID}
	case of.InfraEnvs:
		newest = `(select max(n) from changes where kind = 'infra-env')`
	case of.ClusterID != uuid.Nil:
		newest, args = `(select max(n) from changes where cluster_id = $1)`, []any{of.ClusterID}
	case of.HostID != uuid.Nil:
		newest = `(select n from changes where object_id = $2 and infra_env_id = $1 and kind = 'host')`
		args = []any{of.InfraEnvID, of.HostID}
	case of.InfraEnvID != uuid.Nil:
		newest, args = `(select max(n) from changes where infra_env_id = $1)`, []any{of.InfraEnvID}
	}
	subjects, more := of.subjects(len(args) + 1)
	for numbered := false; ; numbered = true {
		var waiting bool
		err := s.pool.QueryRow(ctx, `
			select f.epoch, exists (select from change_log), coalesce(`+newest+`, 0),
			  exists (select from pulses p where p.dirty > p.evaluated and `+subjects+`)
			from change_feed f`, append(args, more...)...,
		).Scan(&version.epoch, &waiting, &version.n, &behind)
		if err != nil {
			return Cursor{}, false, fmt.Errorf("read the newest change: %w", err)
		}
		if !waiting || numbered { // what waits now was changed after the call
			return version, behind, nil
		}
		if _, err := s.NumberChanges(ctx); err != nil {
			return Cursor{}, false, err
		}
	}
}
