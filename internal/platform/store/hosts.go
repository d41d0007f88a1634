package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

const hostColumns = narrowHostColumns + `, h.connectivity`

const narrowHostColumns = `
	h.infra_env_id, h.id, h.cluster_id, h.kind, h.status, h.status_info, h.status_updated_at, h.role, h.bootstrap, h.dialect,
	h.boot, h.stage, h.facts, h.doc, h.secrets, h.created_at, h.updated_at, h.deleted_at, k.checked_in_at, coalesce(k.host_timestamp, 0)`

const hostTables = `hosts h left join host_checkins k on k.infra_env_id = h.infra_env_id and k.host_id = h.id`

// HostFilter narrows a list of hosts; zero fields do not.
type HostFilter struct {
	ClusterID  uuid.UUID
	InfraEnvID uuid.UUID
	Role       string
	Status     string
	// Connectivity reads the connectivity reports too, by far the largest part of hosts.
	Connectivity bool
	Tenant       Tenant
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
			h.InfraEnvID, h.ID, h.CreatedAt, h.StatusUpdatedAt = infraEnvID, id, t.now, t.now
			before, err = s.insertHost(ctx, tx, t.now, h)
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

// Host reads one host.
func (s *Store) Host(ctx context.Context, infraEnvID, id uuid.UUID) (*model.Host, error) {
	row := s.pool.QueryRow(ctx, `
		select `+hostColumns+` from `+hostTables+`
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null`, infraEnvID, id)
	h, err := s.scanHost(row)
	return h, notFound(err, "host", id)
}

// Hosts calls yield for each host in order of registration, while rows stream.
func (s *Store) Hosts(ctx context.Context, f HostFilter, yield func(*model.Host) error) error {
	rows, err := s.pool.Query(ctx, `
		select `+narrowHostColumns+`, case when @connectivity then h.connectivity end from `+hostTables+`
		where h.deleted_at is null
		  and (@cluster::uuid is null or h.cluster_id = @cluster)
		  and (@infra_env::uuid is null or h.infra_env_id = @infra_env)
		  and (@role = '' or h.role = @role)
		  and (@status = '' or h.status = @status)
		  and (`+anyTenant+` or exists (select from infra_envs e where e.id = h.infra_env_id and `+ofTenant("e.doc")+`))
		order by h.created_at, h.id`, f.Tenant.args(pgx.NamedArgs{
		"cluster": uuidOrNull(f.ClusterID), "infra_env": uuidOrNull(f.InfraEnvID), "role": f.Role, "status": f.Status,
		"connectivity": f.Connectivity,
	}))
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

func (s *Store) lockHost(ctx context.Context, tx pgx.Tx, infraEnvID, id uuid.UUID) (*model.Host, rowState, error) {
	row := tx.QueryRow(ctx, `
		select `+hostColumns+` from `+hostTables+`
		where h.infra_env_id = $1 and h.id = $2 and h.deleted_at is null
		for update of h`, infraEnvID, id)
	h, err := s.scanHost(row)
	if err != nil {
		return nil, rowState{}, notFound(err, "host", id)
	}
	before, err := s.hostState(h)
	return h, before, err
}

// The conditions of lockHosts.
const (
	hostsOfCluster = `h.cluster_id = $1`
	// borrowedHosts are those that a cluster took from a pool: no InfraEnv of its own has them.
	borrowedHosts = `h.cluster_id = $1 and not exists (
		  select from infra_envs e where e.id = h.infra_env_id and (e.cluster_id = $1 or e.deleted_at is not null))`
)

func (s *Store) lockHosts(ctx context.Context, tx pgx.Tx, which string, clusterID uuid.UUID) ([]*model.Host, []rowState, error) {
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
	before := make([]rowState, len(hosts))
	for i, h := range hosts {
		if before[i], err = s.hostState(h); err != nil {
			return nil, nil, err
		}
	}
	return hosts, before, nil
}

// insertHost writes the first version of a host over a deleted one, if one exists. Its attempts are counted on: a workflow
// of the deleted host must not take an attempt of the new one for its own.
func (s *Store) insertHost(ctx context.Context, tx pgx.Tx, now time.Time, h *model.Host) (rowState, error) {
	state, err := s.hostState(h)
	if err != nil {
		return rowState{}, err
	}
	err = tx.QueryRow(ctx, `
		insert into hosts as h (infra_env_id, id, cluster_id, kind, status, status_info, status_updated_at, role, bootstrap, dialect,
		  stage, facts, doc, created_at, updated_at, boot)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15)
		on conflict (infra_env_id, id) do update set
		  cluster_id = excluded.cluster_id, kind = excluded.kind, status = excluded.status, status_info = excluded.status_info,
		  status_updated_at = excluded.status_updated_at, role = excluded.role, bootstrap = excluded.bootstrap,
		  dialect = excluded.dialect, stage = excluded.stage, facts = excluded.facts,
		  doc = excluded.doc || jsonb_strip_nulls(jsonb_build_object('workflow_attempt', h.doc->'workflow_attempt')),
		  created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = null, connectivity = null, secrets = null,
		  boot = excluded.boot
		where h.deleted_at is not null
		returning coalesce((h.doc->>'workflow_attempt')::int, 0)`,
		h.InfraEnvID, h.ID, h.ClusterID, h.Kind, h.Status, h.StatusInfo, h.StatusUpdatedAt, h.Role, h.Bootstrap, h.AgentSteps,
		h.Stage, state.facts, state.doc, now, h.Boot).Scan(&h.WorkflowAttempt)
	if isNoRows(err) {
		return rowState{}, fmt.Errorf("%w: host %s is being registered by another request", model.ErrUnavailable, h.ID)
	}
	if err != nil {
		return rowState{}, fmt.Errorf("insert host %s: %w", h.ID, err)
	}
	return s.hostState(h)
}

// writeHost updates only the columns that changed, so that recording a question does not rewrite the document.
func (s *Store) writeHost(ctx context.Context, tx pgx.Tx, now time.Time, h *model.Host, before rowState) error {
	after, err := s.hostState(h)
	if err != nil {
		return err
	}
	reported := !bytes.Equal(before.connectivity, after.connectivity)
	same := !reported && bytes.Equal(before.columns, after.columns) && bytes.Equal(before.doc, after.doc) &&
		bytes.Equal(before.plain, after.plain)
	switch {
	case same && bytes.Equal(before.facts, after.facts):
		return nil
	case same:
		_, err = tx.Exec(ctx, `update hosts set facts = $3 where infra_env_id = $1 and id = $2`, h.InfraEnvID, h.ID, after.facts)
	default:
		if before.status != after.status {
			h.StatusUpdatedAt = now
		}
		h.UpdatedAt = now
		var report []byte
		if reported {
			report = after.connectivity
		}
		_, err = tx.Exec(ctx, `
			update hosts set
			  cluster_id = $3, kind = $4, status = $5, status_info = $6, status_updated_at = $7, role = $8, bootstrap = $9,
			  dialect = $10, stage = $11, facts = $12, doc = $13, updated_at = $14,
			  connectivity = case when $15 then $16 else connectivity end, secrets = $17, boot = $18
			where infra_env_id = $1 and id = $2`,
			h.InfraEnvID, h.ID, h.ClusterID, h.Kind, h.Status, h.StatusInfo, h.StatusUpdatedAt, h.Role, h.Bootstrap,
			h.AgentSteps, h.Stage, after.facts, after.doc, now, reported, report, s.sealHost(h, after.plain), h.Boot)
	}
	if err != nil {
		return fmt.Errorf("update host %s: %w", h.ID, err)
	}
	if before.status == after.status {
		return nil
	}
	t := &Tx{now: now}
	hostReached(&t.batch, h, now)
	return t.flush(ctx, tx)
}

func (s *Store) hostState(h *model.Host) (rowState, error) {
	doc, plain, err := hostDoc(h)
	if err != nil {
		return rowState{}, err
	}
	facts := []byte("{}")
	if len(h.Facts) > 0 {
		if facts, err = json.Marshal(h.Facts); err != nil {
			return rowState{}, fmt.Errorf("encode facts of host %s: %w", h.ID, err)
		}
	}
	cluster := uuid.Nil
	if h.ClusterID != nil {
		cluster = *h.ClusterID
	}
	columns := fmt.Appendf(nil, "%s|%s|%s|%s|%s|%t|%s|%s|%s",
		cluster, h.Kind, h.Status, h.StatusInfo, h.Role, h.Bootstrap, h.AgentSteps, h.Stage, h.Boot)
	return rowState{columns: columns, doc: doc, plain: plain, facts: facts, connectivity: h.Connectivity, status: string(h.Status)}, nil
}

func (s *Store) scanHost(row pgx.Row) (*model.Host, error) {
	var h model.Host
	var facts, doc, sealed, report []byte
	var deleted, checkedIn *time.Time
	err := row.Scan(&h.InfraEnvID, &h.ID, &h.ClusterID, &h.Kind, &h.Status, &h.StatusInfo, &h.StatusUpdatedAt, &h.Role, &h.Bootstrap,
		&h.AgentSteps, &h.Boot, &h.Stage, &facts, &doc, &sealed, &h.CreatedAt, &h.UpdatedAt, &deleted, &checkedIn, &h.Timestamp, &report)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc, &h); err != nil {
		return nil, fmt.Errorf("decode host %s: %w", h.ID, err)
	}
	if err := json.Unmarshal(facts, &h.Facts); err != nil {
		return nil, fmt.Errorf("decode facts of host %s: %w", h.ID, err)
	}
	if err := s.openHost(&h, sealed); err != nil {
		return nil, err
	}
	h.Connectivity = report
	h.DeletedAt, h.CheckedInAt = orZero(deleted), orZero(checkedIn)
	return &h, nil
}
