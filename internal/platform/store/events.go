package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// EventFilter narrows a list of events; zero fields do not. HostIDs, ClusterLevel and DeletedHosts are combined
// by or: an event that one of them selects is included.
type EventFilter struct {
	ClusterID    uuid.UUID
	HostIDs      []uuid.UUID
	InfraEnvID   uuid.UUID
	Severities   []string
	Categories   []string // none: user
	Message      string   // part of the message, any case
	ClusterLevel *bool    // true: events without a host; false: none of them
	DeletedHosts *bool    // true: events of deleted hosts; false: none of them
	HostID       uuid.UUID
	Since        time.Time
	Before       int64 // only events with a lower id; 0: any
	Descending   bool
	Limit        int // 0: all
	Offset       int
	Tenant       Tenant
}

// EventCounts are the numbers of events that match a filter, whatever its limit.
type EventCounts struct {
	Total      int
	BySeverity map[model.Severity]int
}

// EventPage is a part of the history, with counts of all events that match the filter.
type EventPage struct {
	EventCounts
	Events []model.Event
}

// Events reads a page of the history.
func (s *Store) Events(ctx context.Context, f EventFilter) (EventPage, error) {
	var page EventPage
	var err error
	if page.EventCounts, err = s.CountEvents(ctx, f); err != nil {
		return page, err
	}
	err = s.EachEvent(ctx, f, func(e model.Event) error {
		page.Events = append(page.Events, e)
		return nil
	})
	return page, err
}

// CountEvents counts the events that match a filter.
func (s *Store) CountEvents(ctx context.Context, f EventFilter) (EventCounts, error) {
	counts := EventCounts{BySeverity: map[model.Severity]int{}}
	where, args := f.where()
	rows, err := s.pool.Query(ctx, `select severity, count(*) from events e where `+where+` group by severity`, args)
	if err != nil {
		return counts, fmt.Errorf("count events: %w", err)
	}
	var severity model.Severity
	var n int
	_, err = pgx.ForEachRow(rows, []any{&severity, &n}, func() error {
		counts.BySeverity[severity] = n
		counts.Total += n
		return nil
	})
	if err != nil {
		return counts, fmt.Errorf("count events: %w", err)
	}
	return counts, nil
}

// EachEvent visits the events of a page one by one, so that a long history is never held in memory.
func (s *Store) EachEvent(ctx context.Context, f EventFilter, yield func(model.Event) error) error {
	where, args := f.where()
	order := "asc"
	if f.Descending {
		order = "desc"
	}
	args["limit"], args["offset"] = nil, f.Offset
	if f.Limit > 0 {
		args["limit"] = f.Limit
	}
	rows, err := s.pool.Query(ctx, `
		select id, name, category, severity, cluster_id, host_id, infra_env_id, request_id, message, props, at
		from events e where `+where+`
		order by id `+order+`
		limit @limit::bigint offset @offset::bigint`, args)
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	return visit(rows, scanEvent, yield)
}

// hostIsThere is true when the host of an event e is not deleted.
const hostIsThere = `exists (select from hosts h where h.id = e.host_id and h.deleted_at is null)`

func (f EventFilter) where() (string, pgx.NamedArgs) {
	categories := f.Categories
	if len(categories) == 0 {
		categories = []string{"user"}
	}
	wanted := func(flag *bool) bool { return flag != nil && *flag }
	refused := func(flag *bool) bool { return flag != nil && !*flag }
	return `(@cluster::uuid is null or e.cluster_id = @cluster)
		and (@infra_env::uuid is null or e.infra_env_id = @infra_env)
		and (@severities::text[] is null or e.severity = any (@severities))
		and (@host::uuid is null or e.host_id = @host)
		and (@since::timestamptz is null or e.at >= @since)
		and (@before::bigint = 0 or e.id < @before)
		and e.category = any (@categories)
		and (@message = '' or position(lower(@message) in lower(e.message)) > 0)
		and case when @choosing
		  then e.host_id = any (@hosts) or @cluster_level and e.host_id is null
		    or @deleted_hosts and e.host_id is not null and not ` + hostIsThere + `
		  else (e.host_id is not null or not @no_cluster_level) and (e.host_id is null or not @no_deleted_hosts or ` + hostIsThere + `)
		end
		and ` + eventTenant,
		pgx.NamedArgs{
			"owner": f.Tenant.Owner, "org": f.Tenant.OrgID,
			"host": uuidOrNull(f.HostID), "since": timeOrNull(f.Since), "before": f.Before,
			"cluster": uuidOrNull(f.ClusterID), "infra_env": uuidOrNull(f.InfraEnvID),
			"severities": nilIfEmpty(f.Severities), "categories": categories, "message": f.Message,
			"choosing": len(f.HostIDs) > 0 || wanted(f.ClusterLevel) ||
				wanted(f.DeletedHosts), "hosts": append([]uuid.UUID{}, f.HostIDs...),
			"cluster_level": wanted(f.ClusterLevel), "no_cluster_level": refused(f.ClusterLevel),
			"deleted_hosts": wanted(f.DeletedHosts), "no_deleted_hosts": refused(f.DeletedHosts),
		}
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func scanEvent(row pgx.Row) (model.Event, error) {
	var e model.Event
	var props []byte
	err := row.Scan(
		&e.ID,
		&e.Name,
		&e.Category,
		&e.Severity,
		&e.ClusterID,
		&e.HostID,
		&e.InfraEnvID,
		&e.RequestID,
		&e.Message,
		&props,
		&e.At,
	)
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
