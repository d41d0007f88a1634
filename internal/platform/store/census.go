package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Census counts clusters and hosts that are not deleted by status, and results of
// pending activities that wait to be forwarded.
func (s *Store) Census(ctx context.Context) (clusters, hosts map[string]int, reported int, err error) {
	rows, err := s.pool.Query(ctx, `
		select 'cluster', status, count(*) from clusters where deleted_at is null group by status
		union all
		select 'host', status, count(*) from hosts where deleted_at is null group by status
		union all
		select 'activity', '', count(*) from pending_activities where state = 'reported'`)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("count clusters and hosts: %w", err)
	}
	clusters, hosts = map[string]int{}, map[string]int{}
	var of, status string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&of, &status, &n}, func() error {
		switch of {
		case "cluster":
			clusters[status] = n
		case "host":
			hosts[status] = n
		default:
			reported = n
		}
		return nil
	})
	if err != nil {
		return nil, nil, 0, fmt.Errorf("count clusters and hosts: %w", err)
	}
	return clusters, hosts, reported, nil
}
