package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// goneHosts removes hosts permanently, with their pending activities; check-ins are removed by cascade. A host
// that registered again meanwhile is not deleted any more and stays.
var goneHosts = []string{
	`delete from pending_activities i using hosts h
	 where h.infra_env_id = i.infra_env_id and h.id = i.host_id and h.deleted_at is not null and %s`,
	`delete from hosts h where h.deleted_at is not null and %s`,
}

// BeginPurge marks that the files of a deleted cluster are being removed: it cannot come back then. It returns false when the cluster is
// not deleted, or does not exist any more.
func (s *Store) BeginPurge(ctx context.Context, id uuid.UUID) (bool, error) {
	tag, err := s.pool.Exec(ctx, `update clusters set purge_begun = true where id = $1 and deleted_at is not null`, id)
	if err != nil {
		return false, fmt.Errorf("begin the purge of cluster %s: %w", id, err)
	}
	return tag.RowsAffected() > 0, nil
}

// PurgeCluster removes all rows of a deleted cluster; it returns false when the cluster does not exist any
// more. The caller removes its files.
func (s *Store) PurgeCluster(ctx context.Context, id uuid.UUID) (bool, error) {
	return s.purge(ctx, `select id from clusters where id = @id and deleted_at is not null for update`, id, append([]string{
		`delete from pending_activities where cluster_id = @id`,
		// A host that registered at the moment of the deletion belongs to no cluster.
		`update hosts set deleted_at = created_at where cluster_id = @id and deleted_at is null`,
	}, append(of(goneHosts, `h.cluster_id = @id`),
		`delete from manifests where cluster_id = @id`,
		`delete from monitored_operators where cluster_id = @id`,
		`delete from pulses where subject_id = @id`,
		`delete from events where cluster_id = @id`,
		`update infra_envs set cluster_id = null where cluster_id = @id`,
		`delete from clusters where id = @id`)...))
}

// PurgeInfraEnv removes all rows of a deleted InfraEnv and its hosts; events of a host in a cluster stay in the
// cluster's history.
func (s *Store) PurgeInfraEnv(ctx context.Context, id uuid.UUID) (bool, error) {
	return s.purge(ctx, `select id from infra_envs where id = @id and deleted_at is not null for update`, id, append(
		of(goneHosts, `h.infra_env_id = @id`),
		`delete from pulses where subject_id = @id`,
		`delete from events where infra_env_id = @id and cluster_id is null`,
		`delete from infra_envs where id = @id`))
}

func of(statements []string, hosts string) []string {
	out := make([]string, len(statements))
	for i, sql := range statements {
		out[i] = fmt.Sprintf(sql, hosts)
	}
	return out
}

func (s *Store) purge(ctx context.Context, lock string, id uuid.UUID, statements []string) (bool, error) {
	found := false
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		arg := pgx.NamedArgs{"id": id}
		tag, err := tx.Exec(ctx, lock, arg)
		if err != nil {
			return fmt.Errorf("lock %s: %w", id, err)
		}
		if found = tag.RowsAffected() > 0; !found {
			return nil
		}
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql, arg); err != nil {
				return fmt.Errorf("remove what is left of %s: %w", id, err)
			}
		}
		return nil
	})
	return found, err
}

// PurgeHosts removes hosts that were deleted before an instant, up to a limit, and returns their number. Their
// events stay with their cluster or InfraEnv.
func (s *Store) PurgeHosts(ctx context.Context, before time.Time, limit int) (int, error) {
	purged := 0
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select infra_env_id, id from hosts
			where deleted_at < $1
			order by infra_env_id, id
			limit $2
			for update skip locked`, before, limit)
		if err != nil {
			return fmt.Errorf("find deleted hosts: %w", err)
		}
		var envs, ids []uuid.UUID
		var env, id uuid.UUID
		_, err = pgx.ForEachRow(rows, []any{&env, &id}, func() error {
			envs, ids = append(envs, env), append(ids, id)
			return nil
		})
		if err != nil {
			return fmt.Errorf("find deleted hosts: %w", err)
		}
		purged = len(ids)
		for _, sql := range of(goneHosts, `(h.infra_env_id, h.id) in (select * from unnest(@envs::uuid[], @ids::uuid[]))`) {
			if _, err := tx.Exec(ctx, sql, pgx.NamedArgs{"envs": envs, "ids": ids}); err != nil {
				return fmt.Errorf("remove deleted hosts: %w", err)
			}
		}
		return nil
	})
	return purged, err
}
