package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// MarkAwaitedLogs marks clusters that failed or were cancelled for evaluation while
// their logs, or those of a host, are under way: only the clock tells that they will
// not come any more.
func (s *Store) MarkAwaitedLogs(ctx context.Context) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			select id from clusters
			where status in ('error', 'cancelled') and deleted_at is null and doc->>'logs_info' in ('requested', 'collecting')
			union
			select cluster_id from hosts
			where status in ('error', 'cancelled') and deleted_at is null and cluster_id is not null
			  and doc->>'logs_info' in ('requested', 'collecting')`)
		if err != nil {
			return fmt.Errorf("find awaited logs: %w", err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("find awaited logs: %w", err)
		}
		t := &Tx{now: s.Now()}
		for _, id := range ids {
			t.RefreshCluster(id)
		}
		return t.flush(ctx, tx)
	})
}
