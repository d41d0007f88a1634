package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// EventFilter narrows a list of events; zero fields do not.
type EventFilter struct {
	ClusterID    uuid.UUID
	HostIDs      []uuid.UUID
	InfraEnvID   uuid.UUID
	Severities   []string
	Categories   []string // none: user
	Message      string   // part of the message, any case
	ClusterLevel *bool    // true: only events without a host; false: only those with one
	DeletedHosts *bool    // with false, events of deleted hosts are left out
	Descending   bool
	Limit        int // 0: all
	Offset       int
}

// EventPage is a part of the history, with counts over all that the filter matches.
type EventPage struct {
	Events     []model.Event
	Total      int
	BySeverity map[model.Severity]int
}

// Events reads a page of the history.
func (s *Store) Events(ctx context.Context, f EventFilter) (EventPage, error) {
	page := EventPage{BySeverity: map[model.Severity]int{}}
	where, args := f.where()
	rows, err := s.pool.Query(ctx, `select severity, count(*) from events e where `+where+` group by severity`, args)
	if err != nil {
		return page, fmt.Errorf("count events: %w", err)
	}
	var severity model.Severity
	var n int
	_, err = pgx.ForEachRow(rows, []any{&severity, &n}, func() error {
		page.BySeverity[severity] = n
		page.Total += n
		return nil
	})
	if err != nil {
		return page, fmt.Errorf("count events: %w", err)
	}
	order := "asc"
	if f.Descending {
		order = "desc"
	}
	args["limit"], args["offset"] = nil, f.Offset
	if f.Limit > 0 {
		args["limit"] = f.Limit
	}
	rows, err = s.pool.Query(ctx, `
		select id, name, category, severity, cluster_id, host_id, infra_env_id, request_id, message, props, at
		from events e where `+where+`
		order by id `+order+`
		limit @limit::int offset @offset`, args)
	if err != nil {
		return page, fmt.Errorf("list events: %w", err)
	}
	page.Events, err = pgx.CollectRows(rows, scanEvent)
	return page, err
}

func (f EventFilter) where() (string, pgx.NamedArgs) {
	categories := f.Categories
	if len(categories) == 0 {
		categories = []string{"user"}
	}
	return `(@cluster::uuid is null or e.cluster_id = @cluster)
		and (@hosts::uuid[] is null or e.host_id = any (@hosts))
		and (@infra_env::uuid is null or e.infra_env_id = @infra_env)
		and (@severities::text[] is null or e.severity = any (@severities))
		and e.category = any (@categories)
		and (@message = '' or position(lower(@message) in lower(e.message)) > 0)
		and (@cluster_level::boolean is null or (e.host_id is null) = @cluster_level)
		and (coalesce(@deleted_hosts::boolean, true) or e.host_id is null
		  or exists (select from hosts h where h.id = e.host_id and h.deleted_at is null))`,
		pgx.NamedArgs{
			"cluster": uuidOrNull(f.ClusterID), "hosts": nilIfEmpty(f.HostIDs), "infra_env": uuidOrNull(f.InfraEnvID),
			"severities": nilIfEmpty(f.Severities), "categories": categories, "message": f.Message,
			"cluster_level": f.ClusterLevel, "deleted_hosts": f.DeletedHosts,
		}
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func scanEvent(row pgx.CollectableRow) (model.Event, error) {
	var e model.Event
	var props []byte
	err := row.Scan(&e.ID, &e.Name, &e.Category, &e.Severity, &e.ClusterID, &e.HostID, &e.InfraEnvID, &e.RequestID, &e.Message, &props, &e.At)
	if err != nil {
		return e, err
	}
	e.At = e.At.UTC()
	if len(props) > 0 {
		if err := json.Unmarshal(props, &e.Props); err != nil {
			return e, fmt.Errorf("decode properties of event %d: %w", e.ID, err)
		}
	}
	return e, nil
}
