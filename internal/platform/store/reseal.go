package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// resealBatch is how many rows are read at once; each is written in a transaction of its own.
const resealBatch = 100

// sealedTable says where a table holds encrypted values. Header is the first bytes of a value, which name its key.
type sealedTable struct {
	name string // and the kind of its values
	// find lists keys, places (the id that the value is bound to) and values of the rows after $1, without those that begin with $2.
	find string
	// put replaces the value $2 of the row $1 by $3, unless it has changed meanwhile.
	put string
	// count lists headers and how many values have them.
	count string
	// samples lists one key, place and value of each header.
	samples string
}

var sealedTables = []sealedTable{
	sealedColumn(sealedClusters), sealedColumn(sealedInfraEnvs), sealedColumn(sealedHosts),
	{
		name: sealedActivities,
		find: `select id, cluster_id, sealed from (` + sealedArgs + `) a
			where id > $1 and substring(sealed from 1 for 2) <> $2 order by id limit $3`,
		put: `update pending_activities set args = to_jsonb(replace(encode($3::bytea, 'base64'), E'\n', ''))
			where id = $1 and jsonb_typeof(args) = 'string' and decode(args #>> '{}', 'base64') = $2`,
		count: `select substring(sealed from 1 for 2), count(*) from (` + sealedArgs + `) a group by 1`,
		samples: `select distinct on (substring(sealed from 1 for 2)) id, cluster_id, sealed from (` + sealedArgs + `) a
			order by substring(sealed from 1 for 2)`,
	},
}

// sealedArgs are the arguments of steps that are encrypted: a string in base64, where earlier versions have a list.
const sealedArgs = `
	select id, cluster_id, decode(args #>> '{}', 'base64') as sealed
	from pending_activities where jsonb_typeof(args) = 'string' offset 0`

func sealedColumn(table string) sealedTable {
	return sealedTable{
		name: table,
		find: `select id::text, id, secrets from ` + table + `
			where id::text > $1 and length(secrets) > 1 and substring(secrets from 1 for 2) <> $2 order by id::text limit $3`,
		put:   `update ` + table + ` set secrets = $3 where id::text = $1 and secrets = $2`,
		count: `select substring(secrets from 1 for 2), count(*) from ` + table + ` where length(secrets) > 1 group by 1`,
		samples: `select distinct on (substring(secrets from 1 for 2)) id::text, id, secrets from ` + table + `
			where length(secrets) > 1 order by substring(secrets from 1 for 2)`,
	}
}

// sealedValue is one value of a table.
type sealedValue struct {
	key    string
	place  uuid.UUID
	sealed []byte
}

// Reseal encrypts with the current key what other keys have encrypted, one value a transaction, and returns how many. A value that
// changes meanwhile is left alone, as is one that cannot be decrypted: the error names its row, and the others are done.
func (s *Store) Reseal(ctx context.Context) (int, error) {
	done, failed := 0, []error(nil)
	for _, table := range sealedTables {
		n, err := s.resealTable(ctx, table)
		done += n
		if err != nil {
			failed = append(failed, fmt.Errorf("encrypt %s again: %w", table.name, err))
		}
	}
	return done, away(errors.Join(failed...))
}

func (s *Store) resealTable(ctx context.Context, table sealedTable) (done int, err error) {
	var failed []error
	for last := ""; ; {
		values, err := s.sealedValues(ctx, table, last)
		if err != nil {
			return done, err
		}
		for _, v := range values {
			last = v.key
			plain, err := s.sealer.Open(table.name, v.sealed, v.place[:])
			if err != nil {
				failed = append(failed, fmt.Errorf("decrypt the row %s: %w", v.key, err))
				continue
			}
			tag, err := s.pool.Exec(ctx, table.put, v.key, v.sealed, s.sealer.Seal(table.name, plain, v.place[:]))
			if err != nil {
				return done, err
			}
			done += int(tag.RowsAffected())
		}
		if len(values) < resealBatch {
			return done, errors.Join(failed...)
		}
	}
}

func (s *Store) sealedValues(ctx context.Context, table sealedTable, after string) ([]sealedValue, error) {
	rows, err := s.pool.Query(ctx, table.find, after, s.sealer.Header(), resealBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanSealed)
}

func scanSealed(row pgx.CollectableRow) (v sealedValue, err error) {
	err = row.Scan(&v.key, &v.place, &v.sealed)
	return v, err
}

// SealedValues counts the encrypted values of all tables by the two bytes they begin with, which name their key.
func (s *Store) SealedValues(ctx context.Context) (map[string]int64, error) {
	counts := map[string]int64{}
	for _, table := range sealedTables {
		rows, err := s.pool.Query(ctx, table.count)
		if err != nil {
			return nil, away(fmt.Errorf("count the encrypted values of %s: %w", table.name, err))
		}
		var header []byte
		var n int64
		if _, err := pgx.ForEachRow(rows, []any{&header, &n}, func() error { counts[string(header)] += n; return nil }); err != nil {
			return nil, away(fmt.Errorf("count the encrypted values of %s: %w", table.name, err))
		}
	}
	return counts, nil
}

// KeyUse counts what a key of the key file still encrypts.
type KeyUse struct {
	ID        string
	UsedSince time.Time // from when the service encrypts with it
	Values    int64     // in the database and the files of the service
	Workflows int64     // whose history in Temporal may hold values of it
	CountedAt time.Time // zero before the first count
}

// UseKey records that the service encrypts with a key from now on, and returns since when it does.
func (s *Store) UseKey(ctx context.Context, id string) (since time.Time, err error) {
	err = s.pool.QueryRow(ctx, `
		insert into encryption_keys as k (id, used_since) values ($1, $2)
		on conflict (id) do update set used_since = k.used_since returning used_since`, id, s.Now()).Scan(&since)
	return since.UTC(), away(err)
}

// CountKey records how much a key encrypts.
func (s *Store) CountKey(ctx context.Context, u KeyUse) error {
	_, err := s.pool.Exec(ctx, `
		insert into encryption_keys (id, used_since, sealed_values, workflows, counted_at) values ($1, $4, $2, $3, $4)
		on conflict (id) do update set sealed_values = $2, workflows = $3, counted_at = $4`, u.ID, u.Values, u.Workflows, s.Now())
	return away(err)
}

// KeyUses lists the keys that were ever used.
func (s *Store) KeyUses(ctx context.Context) ([]KeyUse, error) {
	rows, err := s.pool.Query(ctx, `
		select id, used_since, coalesce(sealed_values, 0), coalesce(workflows, 0), counted_at from encryption_keys order by used_since, id`)
	if err != nil {
		return nil, away(err)
	}
	uses, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (u KeyUse, err error) {
		var counted *time.Time
		err = row.Scan(&u.ID, &u.UsedSince, &u.Values, &u.Workflows, &counted)
		u.UsedSince, u.CountedAt = u.UsedSince.UTC(), orZero(counted)
		return u, err
	})
	return uses, away(err)
}

// objectLocks is the first half of the advisory locks of objects.
const objectLocks = 0x511b_0b1e

// LockObject waits until no other process writes the object under key, and keeps them from it until unlock is called.
func (s *Store) LockObject(ctx context.Context, key string) (unlock func(), err error) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return nil, away(fmt.Errorf("lock %s: %w", key, err))
	}
	unlock = func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1, hashtext($2))", objectLocks, key); err != nil {
		unlock()
		return nil, away(fmt.Errorf("lock %s: %w", key, err))
	}
	return unlock, nil
}

// TryOnly runs work unless another process does the same now; it reports whether it did.
func (s *Store) TryOnly(ctx context.Context, lock int64, work func(context.Context) error) (alone bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock($1)", lock).Scan(&alone); err != nil || !alone {
			return err
		}
		return work(ctx)
	})
	return alone, away(err)
}

// ResealLock is the lock of the one process that encrypts again.
const ResealLock = 0x511b_5ea1
