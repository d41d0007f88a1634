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

// Page is which part of a list is read.
type Page struct {
	Limit int    // of the page, 1000 at most; zero: 100
	Token string // NextPageToken of the page before, with the same query
}

// ClusterQuery selects clusters; its zero fields do not restrict.
type ClusterQuery struct {
	Page

	Statuses     []wire.ClusterStatus
	Name         string   // part of the name, any case
	Tags         []string // all of these
	UpdatedSince time.Time
}

// HostQuery selects hosts; its zero fields do not restrict.
type HostQuery struct {
	Page

	ClusterID, InfraEnvID uuid.UUID
	Statuses              []wire.HostStatus
	Roles                 []wire.HostRole
	Name                  string   // part of the name, any case
	Labels                []string // NAME or NAME=VALUE, all of these
	UpdatedSince          time.Time
	// Whole asks for inventories and connectivity too, by far the largest parts.
	Whole bool
}

// EventPageQuery selects events of a page; its zero fields do not restrict.
type EventPageQuery struct {
	Page

	ClusterID, InfraEnvID, HostID uuid.UUID
	Severities                    []wire.EventSeverity
	Since                         time.Time
}

// query are parameters of an address.
type query url.Values

func (p Page) values() query {
	q := query{}
	q.text("page_token", p.Token)
	if p.Limit > 0 {
		q.text("limit", strconv.Itoa(p.Limit))
	}
	return q
}

func (q query) text(name, text string) {
	if text != "" {
		url.Values(q).Set(name, text)
	}
}

func (q query) id(name string, id uuid.UUID) {
	if id != uuid.Nil {
		url.Values(q).Set(name, id.String())
	}
}

func (q query) time(name string, at time.Time) {
	if !at.IsZero() {
		url.Values(q).Set(name, at.UTC().Format(time.RFC3339Nano))
	}
}

func several[T ~string](q query, name string, all []T) {
	for _, value := range all {
		url.Values(q).Add(name, string(value))
	}
}

// ClusterPage lists a page of clusters without their hosts, newest first.
func (c *Client) ClusterPage(ctx context.Context, of ClusterQuery, options ...Option) (page wire.ClusterPage, err error) {
	q := of.values()
	several(q, "status", of.Statuses)
	several(q, "tag", of.Tags)
	q.text("name", of.Name)
	q.time("updated_since", of.UpdatedSince)
	err = c.page(ctx, "/v1/clusters", q, &page, options)
	return page, err
}

// HostPage lists a page of hosts, in the order of their registration.
func (c *Client) HostPage(ctx context.Context, of HostQuery, options ...Option) (page wire.HostPage, err error) {
	q := of.values()
	q.id("cluster_id", of.ClusterID)
	q.id("infra_env_id", of.InfraEnvID)
	several(q, "status", of.Statuses)
	several(q, "role", of.Roles)
	several(q, "label", of.Labels)
	q.text("name", of.Name)
	q.time("updated_since", of.UpdatedSince)
	if of.Whole {
		q.text("with_inventory", "true")
		q.text("with_connectivity", "true")
	}
	err = c.page(ctx, "/v1/hosts", q, &page, options)
	return page, err
}

// EventPage lists a page of events, newest first.
func (c *Client) EventPage(ctx context.Context, of EventPageQuery, options ...Option) (page wire.EventPage, err error) {
	q := of.values()
	q.id("cluster_id", of.ClusterID)
	q.id("infra_env_id", of.InfraEnvID)
	q.id("host_id", of.HostID)
	several(q, "severity", of.Severities)
	q.time("since", of.Since)
	err = c.page(ctx, "/v1/events", q, &page, options)
	return page, err
}

func (c *Client) page(ctx context.Context, path string, q query, into any, options []Option) error {
	return c.do(ctx, call{method: http.MethodGet, own: true, path: path, query: url.Values(q), ok: http.StatusOK, into: into}, options)
}
