package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// numberAtOnce bounds how many changes one transaction numbers.
const numberAtOnce = 5000

// Change says that an object is not as it was: it was made, changed or deleted.
type Change struct {
	Kind       model.ObjectKind
	ID         uuid.UUID
	InfraEnvID uuid.UUID // of a host or an InfraEnv
	ClusterID  *uuid.UUID
	Gone       bool // deleted
}

// Cursor is a place in the feed of changes. Its text is opaque to clients.
type Cursor struct {
	epoch uuid.UUID
	n     int64
}

// String returns the text that ParseCursor reads.
func (c Cursor) String() string { return c.epoch.String() + "." + strconv.FormatInt(c.n, 10) }

// ParseCursor reads a cursor that a client sends back. An error is a model.ErrInvalid.
func ParseCursor(text string) (Cursor, error) {
	epoch, number, _ := strings.Cut(text, ".")
	id, err := uuid.Parse(epoch)
	n, malformed := strconv.ParseInt(number, 10, 64)
	if err != nil || malformed != nil || n < 0 {
		return Cursor{}, model.Invalidf("after: require a cursor of an earlier answer, found %q", text)
	}
	return Cursor{id, n}, nil
}

// NumberChanges numbers the changes that are committed and have no number yet, and returns the end of the feed. Several processes may
// call it at once.
func (s *Store) NumberChanges(ctx context.Context) (Cursor, error) {
	for {
		end, waiting, err := s.feedEnd(ctx)
		if err != nil || !waiting {
			return end, err
		}
		if err := s.numberSome(ctx); err != nil {
			return Cursor{}, err
		}
	}
}

// feedEnd returns the end of the feed, and whether there are changes without a number.
func (s *Store) feedEnd(ctx context.Context) (end Cursor, waiting bool, err error) {
	err = s.pool.QueryRow(ctx, `select epoch, last, exists (select from change_log) from change_feed`).Scan(&end.epoch, &end.n, &waiting)
	if err != nil {
		return end, false, fmt.Errorf("read the end of the feed of changes: %w", err)
	}
	return end, waiting, nil
}

func (s *Store) numberSome(ctx context.Context) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		var last int64
		if err := tx.QueryRow(ctx, `select last from change_feed for update`).Scan(&last); err != nil {
			return fmt.Errorf("lock the feed of changes: %w", err)
		}
		// The statement sees what was committed before it began, so after the lock: the numbers of another process are there.
		_, err := tx.Exec(ctx, `
			with taken as (
			  delete from change_log where id in (select id from change_log order by id limit $3) returning *
			), newest as (
			  select distinct on (object_id, infra_env_id, kind) * from taken order by object_id, infra_env_id, kind, id desc
			), numbered as (
			  insert into changes as c (kind, object_id, infra_env_id, cluster_id, gone, n, at)
			  select kind, object_id, coalesce(infra_env_id, '00000000-0000-0000-0000-000000000000'), cluster_id, gone,
			    $1 + row_number() over (order by id), $2
			  from newest
			  on conflict (object_id, infra_env_id, kind) do update
			    set cluster_id = excluded.cluster_id, gone = excluded.gone, n = excluded.n, at = excluded.at
			  returning n
			)
			update change_feed set last = greatest(last, (select max(n) from numbered))`, last, s.Now(), numberAtOnce)
		if err != nil {
			return fmt.Errorf("number changes: %w", err)
		}
		return nil
	})
}

// ChangesAfter returns which objects of a tenant changed after a cursor, each once, in the order of their newest changes, and the cursor
// to ask with next. It returns a model.ErrGone for a cursor of before a restore, or one that is so old that deletions after it may be
// forgotten: the reader has to list its objects anew.
func (s *Store) ChangesAfter(ctx context.Context, after Cursor, t Tenant, limit int) ([]Change, Cursor, error) {
	rows, err := s.pool.Query(ctx, `
		select f.epoch, f.last, f.floor, ch.n, coalesce(ch.kind, ''), ch.object_id, ch.infra_env_id, ch.cluster_id, coalesce(ch.gone, false)
		from change_feed f
		left join lateral (
		  select * from changes ch
		  where ch.n > @after and (`+anyTenant+`
		    or exists (select from clusters c where c.id = ch.cluster_id and `+ofTenant("c.doc")+`)
		    or exists (select from infra_envs i where i.id = ch.infra_env_id and `+ofTenant("i.doc")+`))
		  order by ch.n limit @limit) ch on true
		order by ch.n`, t.args(pgx.NamedArgs{"after": after.n, "limit": limit}))
	if err != nil {
		return nil, after, fmt.Errorf("list changes: %w", err)
	}
	var found []Change
	var end Cursor
	var floor int64
	var n *int64
	var c Change
	var id, infraEnv *uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&end.epoch, &end.n, &floor, &n, &c.Kind, &id, &infraEnv, &c.ClusterID, &c.Gone}, func() error {
		if n != nil {
			c.ID, c.InfraEnvID = *id, *infraEnv
			found = append(found, c)
		}
		return nil
	})
	if err != nil {
		return nil, after, fmt.Errorf("list changes: %w", err)
	}
	if end.epoch != after.epoch || after.n < floor || after.n > end.n {
		return nil, after, model.Gonef(
			"after: it is not known any more what changed since this cursor: list the objects, and continue from a new one")
	}
	if len(found) == limit {
		end.n = *n
	}
	return found, end, nil
}

// ForgetChanges removes deletions that were numbered before an instant. Readers whose cursors are older list their objects anew.
func (s *Store) ForgetChanges(ctx context.Context, before time.Time) error {
	_, err := s.pool.Exec(ctx, `
		with feed as (
		  select from change_feed for update
		), forgotten as (
		  delete from changes where gone and at < $1 and exists (select from feed) returning n
		)
		update change_feed set floor = greatest(floor, (select max(n) from forgotten)) where exists (select from forgotten)`, before)
	if err != nil {
		return fmt.Errorf("forget old changes: %w", err)
	}
	return nil
}

// RenewFeed ends all cursors: what was changed since the backup from which a database was restored is not known. It returns nil for a
// database of before the feed.
func RenewFeed(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `
		do $$ begin
		  if to_regclass('slipway.change_feed') is not null then
		    update slipway.change_feed set epoch = gen_random_uuid();
		  end if;
		end $$`)
	if err != nil {
		return fmt.Errorf("renew the feed of changes: %w", err)
	}
	return nil
}
