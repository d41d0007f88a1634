package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// EventQuery selects events; its zero fields do not restrict.
type EventQuery struct {
	ClusterID, InfraEnvID, HostID uuid.UUID
	Severities                    []wire.EventSeverity
	Message                       string // part of the text
	Limit, Offset                 int
	Descending                    bool // newest first
}

func (q EventQuery) values() url.Values {
	values := url.Values{}
	for name, id := range map[string]uuid.UUID{
		"cluster_id": q.ClusterID, "infra_env_id": q.InfraEnvID, "host_id": q.HostID,
	} {
		if id != uuid.Nil {
			values.Set(name, id.String())
		}
	}
	severities := make([]string, 0, len(q.Severities))
	for _, s := range q.Severities {
		severities = append(severities, string(s))
	}
	for name, value := range map[string]string{"severities": strings.Join(severities, ","), "message": q.Message} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for name, number := range map[string]int{"limit": q.Limit, "offset": q.Offset} {
		if number > 0 {
			values.Set(name, strconv.Itoa(number))
		}
	}
	if q.Descending {
		values.Set("order", "descending")
	}
	return values
}

// Events lists events, oldest first unless asked otherwise.
func (c *Client) Events(ctx context.Context, query EventQuery, options ...Option) ([]wire.Event, error) {
	return read[[]wire.Event](ctx, c, "/v2/events", query.values(), options)
}

// TriggerEvent adds an event to a cluster.
func (c *Client) TriggerEvent(ctx context.Context, event wire.Event, options ...Option) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/v2/events", body: event, ok: http.StatusCreated}, options)
}
