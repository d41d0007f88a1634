package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// AuditQuery selects rows of the audit; its zero fields do not restrict.
type AuditQuery struct {
	User, Operation, Outcome      string
	ClusterID, InfraEnvID, HostID uuid.UUID
	Since                         time.Time
	Limit                         int    // of a page, 1000 at most; zero: 100
	PageToken                     string // NextPageToken of the page before
}

func (q AuditQuery) values() url.Values {
	values := url.Values{}
	for name, text := range map[string]string{
		"user": q.User, "operation": q.Operation, "outcome": q.Outcome, "page_token": q.PageToken,
	} {
		if text != "" {
			values.Set(name, text)
		}
	}
	for name, id := range map[string]uuid.UUID{
		"cluster_id": q.ClusterID, "infra_env_id": q.InfraEnvID, "host_id": q.HostID,
	} {
		if id != uuid.Nil {
			values.Set(name, id.String())
		}
	}
	if !q.Since.IsZero() {
		values.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}

// Audit lists what users did, newest first: all rows for administrators, the caller's own for others.
func (c *Client) Audit(ctx context.Context, query AuditQuery, options ...Option) (page wire.Audit, err error) {
	err = c.do(ctx, call{
		method: http.MethodGet, own: true, path: "/v1/audit", query: query.values(), ok: http.StatusOK, into: &page,
	}, options)
	return page, err
}
