package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// Decision is what an evaluation changes: copies of rows, never the rows it was given.
// Of a host only the status and the document are written; Cluster is nil when it stays
// as it is.
type Decision struct {
	Cluster *model.Cluster
	Hosts   []*model.Host
}

// Decide looks at a cluster (nil for unbound hosts) and its hosts, ordered by discovery
// environment and id, and tells what is to be changed. It may run twice and must not
// change what it is given.
type Decide func(c *model.Cluster, hosts []*model.Host, t *Tx) (Decision, error)

// errStale says that a row was written while it was being decided on.
var errStale = errors.New("rows changed during the evaluation")

// EvaluateCluster runs decide on a cluster and its hosts and writes what it decides.
// The first try holds no lock while it reads and decides, so that hosts register and
// report meanwhile; rows written by others meanwhile void it, and the second try
// locks first.
func (s *Store) EvaluateCluster(ctx context.Context, id uuid.UUID, decide Decide) error {
	return s.evaluate(ctx, func(tx pgx.Tx, lock string) (*picture, error) {
		p := &picture{}
		row := tx.QueryRow(ctx, `
			select `+clusterColumns+`, c.xmin::text from `+clusterTables+`
			where c.id = $1 and c.deleted_at is null `+forNoKeyUpdate(lock, "c"), id)
		c, err := s.scanCluster(versioned{row, &p.clusterVersion})
		if err != nil {
			return nil, notFound(err, "cluster", id)
		}
		p.cluster = c
		return p, p.readHosts(ctx, tx, lock, `h.cluster_id = $1`, id)
	}, decide)
}

// EvaluateUnboundHosts is EvaluateCluster for the hosts of a discovery environment that
// have no cluster.
func (s *Store) EvaluateUnboundHosts(ctx context.Context, infraEnvID uuid.UUID, decide Decide) error {
	return s.evaluate(ctx, func(tx pgx.Tx, lock string) (*picture, error) {
		p := &picture{}
		return p, p.readHosts(ctx, tx, lock, `h.infra_env_id = $1 and h.cluster_id is null`, infraEnvID)
	}, decide)
}

type reader func(tx pgx.Tx, lock string) (*picture, error)

func (s *Store) evaluate(ctx context.Context, read reader, decide Decide) error {
	var p *picture
	err := s.inTx(ctx, func(tx pgx.Tx) (err error) {
		p, err = read(tx, "")
		return err
	})
	if err != nil {
		return err
	}
	t := &Tx{now: s.Now()}
	d, err := decide(p.cluster, p.hosts, t)
	if err != nil {
		return err
	}
	if d.Cluster == nil && len(d.Hosts) == 0 && len(t.batch.QueuedQueries) == 0 {
		return nil
	}
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if err := p.verify(ctx, tx, d); err != nil {
			return err
		}
		return s.writeDecision(ctx, tx, t, p, d)
	})
	if !errors.Is(err, errStale) {
		return err
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := read(tx, "for no key update of")
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		d, err := decide(p.cluster, p.hosts, t)
		if err != nil {
			return err
		}
		return s.writeDecision(ctx, tx, t, p, d)
	})
}

// writeDecision writes rows that are locked, or verified, by tx.
func (s *Store) writeDecision(ctx context.Context, tx pgx.Tx, t *Tx, p *picture, d Decision) error {
	if d.Cluster != nil {
		before, err := s.clusterState(p.cluster)
		if err != nil {
			return err
		}
		if err := s.writeCluster(ctx, tx, t.now, d.Cluster, before); err != nil {
			return err
		}
	}
	for _, h := range d.Hosts {
		doc, err := json.Marshal(h)
		if err != nil {
			return fmt.Errorf("encode host %s: %w", h.ID, err)
		}
		if old, ok := p.host(h); ok && old.Status != h.Status {
			h.StatusUpdatedAt = t.now
		}
		h.UpdatedAt = t.now
		t.batch.Queue(`
			update hosts set status = $3, status_info = $4, status_updated_at = $5, doc = $6, updated_at = $7
			where infra_env_id = $1 and id = $2`,
			h.InfraEnvID, h.ID, h.Status, h.StatusInfo, h.StatusUpdatedAt, doc, t.now)
	}
	return t.flush(ctx, tx)
}

// picture is what an evaluation decides on, with the versions of the rows.
type picture struct {
	cluster        *model.Cluster
	clusterVersion string
	hosts          []*model.Host
	versions       []string
	index          map[hostKey]int
}

type hostKey struct{ infraEnv, id uuid.UUID }

func (p *picture) host(h *model.Host) (*model.Host, bool) {
	i, ok := p.index[hostKey{h.InfraEnvID, h.ID}]
	if !ok {
		return nil, false
	}
	return p.hosts[i], true
}

func (p *picture) readHosts(ctx context.Context, tx pgx.Tx, lock, where string, arg any) error {
	rows, err := tx.Query(ctx, `
		select `+hostColumns+`, h.xmin::text from `+hostTables+`
		where `+where+` and h.deleted_at is null
		order by h.infra_env_id, h.id `+forNoKeyUpdate(lock, "h"), arg)
	if err != nil {
		return fmt.Errorf("read hosts: %w", err)
	}
	defer rows.Close()
	p.index = map[hostKey]int{}
	for rows.Next() {
		var version string
		h, err := scanHost(versioned{rows, &version})
		if err != nil {
			return err
		}
		p.index[hostKey{h.InfraEnvID, h.ID}] = len(p.hosts)
		p.hosts, p.versions = append(p.hosts, h), append(p.versions, version)
	}
	return rows.Err()
}

// verify locks the cluster and the rows to be written and compares their versions with
// those decided on.
func (p *picture) verify(ctx context.Context, tx pgx.Tx, d Decision) error {
	if p.cluster != nil {
		var version string
		err := tx.QueryRow(ctx, `
			select xmin::text from clusters where id = $1 and deleted_at is null for no key update`, p.cluster.ID).Scan(&version)
		if isNoRows(err) || err == nil && version != p.clusterVersion {
			return errStale
		}
		if err != nil {
			return fmt.Errorf("lock cluster %s: %w", p.cluster.ID, err)
		}
	}
	infraEnvs, ids := make([]uuid.UUID, len(d.Hosts)), make([]uuid.UUID, len(d.Hosts))
	for i, h := range d.Hosts {
		infraEnvs[i], ids[i] = h.InfraEnvID, h.ID
	}
	rows, err := tx.Query(ctx, `
		select h.infra_env_id, h.id, h.xmin::text from hosts h
		where (h.infra_env_id, h.id) in (select * from unnest($1::uuid[], $2::uuid[])) and h.deleted_at is null
		order by h.infra_env_id, h.id
		for no key update of h`, infraEnvs, ids)
	if err != nil {
		return fmt.Errorf("lock hosts: %w", err)
	}
	fresh := 0
	var key hostKey
	var version string
	_, err = pgx.ForEachRow(rows, []any{&key.infraEnv, &key.id, &version}, func() error {
		if i, ok := p.index[key]; ok && p.versions[i] == version {
			fresh++
		}
		return nil
	})
	if err == nil && fresh != len(d.Hosts) {
		return errStale
	}
	return err
}

// versioned reads one more column behind those of a noun: the version of its row, the
// transaction that wrote it.
type versioned struct {
	row     pgx.Row
	version *string
}

func (v versioned) Scan(dest ...any) error { return v.row.Scan(append(dest, v.version)...) }

// forNoKeyUpdate ends a query with its lock, one that lets hosts of the cluster be
// registered meanwhile.
func forNoKeyUpdate(lock, alias string) string {
	if lock == "" {
		return ""
	}
	return lock + " " + alias
}
