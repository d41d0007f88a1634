package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// hostRow is a row of table hosts.
type hostRow struct {
	*model.Host
	Facts   []byte `db:"facts"`
	Doc     []byte `db:"doc"`
	Secrets []byte `db:"secrets"` // in clear in records that are compared
	// Shown is made by Options.Rendering, in its form; nil where none is kept.
	Shown          []byte `db:"shown"`
	ShownInventory []byte `db:"shown_inventory"`
	ShownForm      int16  `db:"shown_form"`
}

var hostTable = tableOf[hostRow](layout{
	name: "hosts", alias: "h",
	key:     []string{"infra_env_id", "id"},
	once:    []string{"created_at"},
	follows: []string{"status_updated_at", "updated_at"},
	alone:   []string{"facts", "connectivity"},
	derived: []string{"shown", "shown_inventory", "shown_form"},
	read: map[string]string{
		"deleted_at": "", "checked_in_at": "k.checked_in_at", "host_timestamp": "coalesce(k.host_timestamp, 0)",
	},
})

var (
	hostColumns = hostTable.selects()
	// narrowHostColumns leave the connectivity report out.
	narrowHostColumns = hostTable.selects("connectivity", "null::bytea")
	// chosenHostColumns have the connectivity report on demand.
	chosenHostColumns = hostTable.selects("connectivity", "case when @connectivity then h.connectivity end")
)

const hostTables = `hosts h left join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id`

// HostFilter narrows a list of hosts; zero fields do not.
type HostFilter struct {
	ClusterID  uuid.UUID
	InfraEnvID uuid.UUID
	Roles      []string
	Statuses   []string
	Name       string            // part of the name that is shown, any case
	Labels     map[string]string // all of these labels of the node
	LabelNames []string          // labels with any value, all of these
	// UpdatedSince leaves hosts out that were changed before; polls change nothing.
	UpdatedSince time.Time
	After        *Place
	// Connectivity reads the connectivity reports too, by far the largest part of hosts; Inventory the inventories of ShownHosts.
	Connectivity, Inventory bool
	Tenant                  Tenant
	// Clusters orders the hosts of these clusters by their clusters first, as lists of clusters are ordered; nil: any. For ShownHosts.
	Clusters      []uuid.UUID
	Limit, Offset int // of a page; a limit of zero: all
}

// RegisterHost creates a host, or runs fn on the existing one (a deleted one counts
// as new). fn gets created == true with make's host for a new one.
func (s *Store) RegisterHost(ctx context.Context, infraEnvID, id uuid.UUID, make func() *model.Host,
	fn func(h *model.Host, created bool, t *Tx) error,
) (*model.Host, error) {
	var out *model.Host
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		h, before, err := s.lockHost(ctx, tx, infraEnvID, id)
		created := false
		if isNotFound(err) {
			h, created = make(), true
			h.InfraEnvID, h.ID, h.CreatedAt, h.UpdatedAt, h.StatusUpdatedAt = infraEnvID, id, t.now, t.now, t.now
			before, err = s.insertHost(ctx, tx, h)
			if err == nil {
				t.crowd, err = crowd(ctx, tx, infraEnvID, id, t.now)
			}
		}
		if err != nil {
			return err
		}
		if err := fn(h, created, t); err != nil {
			return err
		}
		out = h
		if err := s.writeHost(ctx, tx, t.now, h, before); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
	return out, err
}

// Crowd counts the other hosts of an InfraEnv, and the hosts that registered first within a minute, also deleted ones.
type Crowd struct{ Hosts, Lately int }

// Crowd returns the counts of the InfraEnv of a host that registers first; transactions of such hosts take turns.
func (t *Tx) Crowd() Crowd { return t.crowd }

func crowd(ctx context.Context, tx pgx.Tx, infraEnvID, id uuid.UUID, now time.Time) (c Crowd, err error) {
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('hosts of ' || $1::text, 0))`, infraEnvID); err != nil {
		return c, fmt.Errorf("wait for hosts of infra-env %s: %w", infraEnvID, err)
	}
	err = tx.QueryRow(ctx, `
		select count(*) filter (where deleted_at is null), count(*) filter (where created_at > $3) from hosts
		where infra_env_id = $1 and id <> $2`, infraEnvID, id, now.Add(-time.Minute)).Scan(&c.Hosts, &c.Lately)
	if err != nil {
		return c, fmt.Errorf("count the hosts of infra-env %s: %w", infraEnvID, err)
	}
	return c, nil
}

// Host reads one host.
func (s *Store) Host(ctx context.Context, infraEnvID, id uuid.UUID) (*model.Host, error) {
	row := s.pool.QueryRow(ctx, `
		select `+hostColumns+` from `+hostTables+`
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, infraEnvID, id)
	h, err := s.scanHost(row)
	return h, notFound(err, "host", id)
}

// shownName is the name that answers show for a host.
const shownName = `coalesce(h.doc->>'requested_hostname', nullif(h.doc->'inventory'->>'hostname', ''), h.id::text)`

// filteredHosts are the hosts of a HostFilter.
var filteredHosts = `h.deleted_at is null
		  and (@cluster::uuid is null or h.cluster_id = @cluster)
		  and (@infra_env::uuid is null or h.infra_env_id = @infra_env)
		  and (@roles::text[] is null or h.role = any (@roles))
		  and (@statuses::text[] is null or h.status = any (@statuses))
		  and (@updated_since::timestamptz is null or h.updated_at >= @updated_since)
		  and (@after_at::timestamptz is null or (h.created_at, h.id) > (@after_at::timestamptz, @after_id::uuid))
		  and (@name = '' or position(lower(@name) in lower(` + shownName + `)) > 0)
		  and (@labels::jsonb is null or h.doc->'node_labels' @> @labels::jsonb)
		  and (@label_names::text[] is null or h.doc->'node_labels' ?& @label_names::text[])
		  and (` + anyTenant + ` or exists (select from infra_envs e where e.id = h.infra_env_id and ` + ofTenant("e.doc") + `))`

func (f HostFilter) args() pgx.NamedArgs {
	return f.After.args(f.Tenant.args(pgx.NamedArgs{
		"cluster": uuidOrNull(f.ClusterID), "infra_env": uuidOrNull(f.InfraEnvID),
		"roles": nilIfEmpty(f.Roles), "statuses": nilIfEmpty(f.Statuses), "name": f.Name, "updated_since": timeOrNull(f.UpdatedSince),
		"labels": f.labels(), "label_names": nilIfEmpty(f.LabelNames),
		"connectivity": f.Connectivity, "inventory": f.Inventory, "limit": f.Limit, "offset": f.Offset,
	}))
}

// labels returns the labels as an argument of a query; nil: any.
func (f HostFilter) labels() map[string]string {
	if len(f.Labels) == 0 {
		return nil
	}
	return f.Labels
}

// Hosts calls yield for each host in order of registration, while rows stream.
func (s *Store) Hosts(ctx context.Context, f HostFilter, yield func(*model.Host) error) error {
	rows, err := s.pool.Query(ctx, `
		select `+chosenHostColumns+` from `+hostTables+`
		where `+filteredHosts+`
		order by h.created_at, h.id `+page, f.args())
	if err != nil {
		return fmt.Errorf("list hosts: %w", err)
	}
	return visit(rows, s.scanHost, yield)
}

// ClusterHosts reads all hosts of a cluster in order of registration, without their
// connectivity reports.
func (s *Store) ClusterHosts(ctx context.Context, clusterID uuid.UUID) ([]*model.Host, error) {
	var hosts []*model.Host
	err := s.Hosts(ctx, HostFilter{ClusterID: clusterID}, func(h *model.Host) error {
		hosts = append(hosts, h)
		return nil
	})
	return hosts, err
}

// UpdateHost runs fn on the locked row and writes what changed.
func (s *Store) UpdateHost(ctx context.Context, infraEnvID, id uuid.UUID, fn func(*model.Host, *Tx) error) (*model.Host, error) {
	var out *model.Host
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		h, before, err := s.lockHost(ctx, tx, infraEnvID, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(h, t); err != nil {
			return err
		}
		out = h
		if err := s.writeHost(ctx, tx, t.now, h, before); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
	return out, err
}

// DeleteHost marks a host as deleted; fn may refuse and adds events.
func (s *Store) DeleteHost(ctx context.Context, infraEnvID, id uuid.UUID, fn func(*model.Host, *Tx) error) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		h, _, err := s.lockHost(ctx, tx, infraEnvID, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(h, t); err != nil {
			return err
		}
		t.deleteHost(h)
		return t.flush(ctx, tx)
	})
}

// KeepDeleted makes a host that was deleted count as deleted now, so that its row is not purged while its agent still asks.
func (s *Store) KeepDeleted(ctx context.Context, infraEnvID, id uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `
		update hosts set deleted_at = $3
		where infra_env_id = $1 and id = $2 and deleted_at is not null`, infraEnvID, id, s.Now())
	if err != nil {
		return fmt.Errorf("keep deleted host %s: %w", id, err)
	}
	return nil
}

func (t *Tx) deleteHost(h *model.Host) {
	t.SupersedeHost(h)
	if h.ClusterID != nil {
		t.HostsChanged(*h.ClusterID)
	}
	t.batch.Queue(`update hosts set deleted_at = $3, bootstrap = false where infra_env_id = $1 and id = $2`, h.InfraEnvID, h.ID, t.now)
}

func (s *Store) lockHost(ctx context.Context, tx pgx.Tx, infraEnvID, id uuid.UUID) (*model.Host, record, error) {
	row := tx.QueryRow(ctx, `
		select `+hostColumns+` from `+hostTables+`
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null
		for update of h`, infraEnvID, id)
	h, err := s.scanHost(row)
	if err != nil {
		return nil, nil, notFound(err, "host", id)
	}
	before, err := hostRecord(h)
	return h, before, err
}

// The conditions of lockHosts.
const (
	hostsOfCluster = `h.cluster_id = $1`
	// borrowedHosts are the hosts that a cluster took from a pool: no InfraEnv of its own has them.
	borrowedHosts = `h.cluster_id = $1 and not exists (
		  select from infra_envs e where e.id = h.infra_env_id and (e.cluster_id = $1 or e.deleted_at is not null))`
)

func (s *Store) lockHosts(ctx context.Context, tx pgx.Tx, which string, clusterID uuid.UUID) ([]*model.Host, []record, error) {
	rows, err := tx.Query(ctx, `
		select `+hostColumns+` from `+hostTables+`
		where `+which+` and h.deleted_at is null
		order by h.infra_env_id, h.id
		for update of h`, clusterID)
	if err != nil {
		return nil, nil, fmt.Errorf("lock hosts: %w", err)
	}
	hosts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*model.Host, error) { return s.scanHost(row) })
	if err != nil {
		return nil, nil, err
	}
	before := make([]record, len(hosts))
	for i, h := range hosts {
		if before[i], err = hostRecord(h); err != nil {
			return nil, nil, err
		}
	}
	return hosts, before, nil
}

// insertHost writes the first version of a host over a deleted one, if one exists. Its attempts are counted on: a workflow
// of the deleted host must not take an attempt of the new one for its own.
func (s *Store) insertHost(ctx context.Context, tx pgx.Tx, h *model.Host) (record, error) {
	row, err := rowOfHost(h)
	if err != nil {
		return nil, err
	}
	row.Secrets = s.sealHost(h, row.Secrets)
	sql, args := hostTable.insert(hostTable.record(row))
	err = tx.QueryRow(ctx, sql+`
		on conflict (infra_env_id, id) do update set deleted_at = null, `+
		hostTable.excluded("doc", `excluded.doc || jsonb_strip_nulls(jsonb_build_object('workflow_attempt', h.doc->'workflow_attempt'))`)+`
		where h.deleted_at is not null
		returning coalesce((h.doc->>'workflow_attempt')::int, 0)`, args...).Scan(&h.WorkflowAttempt)
	if isNoRows(err) {
		return nil, fmt.Errorf("%w: host %s is being registered by another request", model.ErrUnavailable, h.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("insert host %s: %w", h.ID, err)
	}
	return hostRecord(h)
}

// writeHost writes a host that has changed.
func (s *Store) writeHost(ctx context.Context, tx pgx.Tx, now time.Time, h *model.Host, before record) error {
	row, err := rowOfHost(h)
	if err != nil {
		return err
	}
	changed := hostTable.changed(before, hostTable.record(row))
	if len(changed) == 0 {
		return nil
	}
	t := &Tx{now: now}
	sql, args := s.hostUpdate(row, changed, t)
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("update host %s: %w", h.ID, err)
	}
	return t.flush(ctx, tx)
}

// hostUpdate returns the statement that writes a host of which some columns changed; t gets what follows it. Facts are written
// alone, so that recording a question does not rewrite the document.
func (s *Store) hostUpdate(row *hostRow, changed []string, t *Tx) (sql string, args []any) {
	if slices.Equal(changed, []string{"facts"}) {
		return hostTable.updateOnly(hostTable.record(row), "facts")
	}
	if slices.Contains(changed, "status") {
		row.StatusUpdatedAt = t.now
		hostReached(&t.batch, row.Host, t.now)
	}
	row.UpdatedAt = t.now
	row.Secrets = s.sealHost(row.Host, row.Secrets)
	row.Shown, row.ShownInventory, row.ShownForm = s.rendering.host(row.Host)
	return hostTable.update(hostTable.record(row), changed)
}

// rowOfHost encodes a host; its secrets are in clear.
func rowOfHost(h *model.Host) (*hostRow, error) {
	row := &hostRow{Host: h, Facts: []byte("{}")}
	var err error
	if row.Doc, row.Secrets, err = hostDoc(h); err != nil {
		return nil, err
	}
	if len(h.Facts) > 0 {
		if row.Facts, err = json.Marshal(h.Facts); err != nil {
			return nil, fmt.Errorf("encode facts of host %s: %w", h.ID, err)
		}
	}
	return row, nil
}

// hostRecord encodes a host for comparisons with later versions.
func hostRecord(h *model.Host) (record, error) {
	row, err := rowOfHost(h)
	if err != nil {
		return nil, err
	}
	return hostTable.record(row), nil
}

func (s *Store) scanHost(from pgx.Row) (*model.Host, error) { return s.scanHostAnd(from) }

// scanHostAnd reads a host and what a query has beside its columns. A row without a document, or facts, leaves their fields empty.
func (s *Store) scanHostAnd(from pgx.Row, more ...any) (*model.Host, error) {
	h := &model.Host{}
	row := hostRow{Host: h}
	if err := hostTable.scan(from, &row, more...); err != nil {
		return nil, err
	}
	return h, s.decodeHost(&row)
}

// decodeHost reads the documents of a row, as far as it has them, into its host.
func (s *Store) decodeHost(row *hostRow) error {
	h := row.Host
	if row.Doc != nil {
		if err := json.Unmarshal(row.Doc, h); err != nil {
			return fmt.Errorf("decode host %s: %w", h.ID, err)
		}
	}
	if row.Facts != nil {
		if err := json.Unmarshal(row.Facts, &h.Facts); err != nil {
			return fmt.Errorf("decode facts of host %s: %w", h.ID, err)
		}
	}
	return s.openHost(h, row.Secrets)
}
