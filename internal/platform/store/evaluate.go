package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// Decision holds the results of an evaluation: copies of rows, never the rows that Decide received. Those that have not
// changed are not written.
type Decision struct {
	Cluster *model.Cluster // nil when it stays unchanged
	Hosts   []HostChange
}

// HostChange is a host, and what is written with it if it has changed (see Tx.Part).
type HostChange struct {
	Host *model.Host
	Tx   *Tx

	// row is written when columns have changed, see snapshot.onlyChanges.
	row     *hostRow
	changed []string
}

// Decide evaluates a cluster (nil for unbound hosts) and its hosts, ordered by InfraEnv and id, and returns the
// changes; t collects what is written with the cluster. It may run several times and must not modify its
// arguments.
type Decide func(c *model.Cluster, hosts []*model.Host, t *Tx) (Decision, error)

const (
	// evaluationTries is how often an evaluation runs without locks before it takes them.
	evaluationTries = 3
	// evaluationChunk is how many hosts are written in one transaction, so that a host's report does not wait
	// until a thousand hosts are written.
	evaluationChunk = 50
)

// errStale is returned when a row was written during its evaluation.
var errStale = errors.New("rows changed during the evaluation")

// Part makes a Tx for the writes that belong to one host of an evaluation.
func (t *Tx) Part() *Tx { return &Tx{now: t.now} }

// EvaluateCluster runs decide on a cluster and its hosts and writes its decision, the cluster last. No lock is
// held while it reads and decides, so that hosts register and report meanwhile; hosts that others wrote meanwhile
// are left out, and it starts over for them, finally with locks. Many hosts are written in chunks; the next
// evaluation completes one that was interrupted.
func (s *Store) EvaluateCluster(ctx context.Context, id uuid.UUID, decide Decide) error {
	return s.evaluate(ctx, id, func(tx pgx.Tx, lock string, known *snapshot) (*snapshot, error) {
		p, err := readMark(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		row := tx.QueryRow(ctx, `
			select `+clusterColumns+`, c.xmin::text from `+clusterTables+`
			where c.id = $1 and c.deleted_at is null `+forNoKeyUpdate(lock, "c"), id)
		c, err := s.scanCluster(versioned{row, &p.clusterVersion})
		if err != nil {
			return nil, notFound(err, "cluster", id)
		}
		p.cluster = c
		return p, s.readPictured(ctx, tx, p, known, lock, `h.cluster_id = $1`, id)
	}, decide)
}

// EvaluateUnboundHosts works as EvaluateCluster, for the hosts of an InfraEnv that have no cluster.
func (s *Store) EvaluateUnboundHosts(ctx context.Context, infraEnvID uuid.UUID, decide Decide) error {
	return s.evaluate(ctx, infraEnvID, func(tx pgx.Tx, lock string, known *snapshot) (*snapshot, error) {
		p, err := readMark(ctx, tx, infraEnvID)
		if err != nil {
			return nil, err
		}
		return p, s.readPictured(ctx, tx, p, known, lock, `h.infra_env_id = $1 and h.cluster_id is null`, infraEnvID)
	}, decide)
}

// reader reads a snapshot. Hosts of a known one that are the same are not read again.
type reader func(tx pgx.Tx, lock string, known *snapshot) (*snapshot, error)

func (s *Store) evaluate(ctx context.Context, subjectID uuid.UUID, read reader, decide Decide) error {
	known := s.snapshots.last(subjectID)
	for range evaluationTries {
		p, err := s.evaluateFreely(ctx, read, decide, known)
		if err == nil {
			s.snapshots.keep(p)
		}
		if !errors.Is(err, errStale) {
			return err
		}
		known = p
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		p, err := read(tx, "for no key update of", known)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		d, err := p.decide(decide, t)
		if err != nil {
			return err
		}
		if err := s.writeHosts(ctx, tx, d.Hosts); err != nil {
			return err
		}
		return s.writeRest(ctx, tx, t, p, d)
	})
}

// evaluateFreely writes the hosts that were not written by others meanwhile, and the rest of the decision if these are all of them;
// otherwise it returns the snapshot with errStale.
func (s *Store) evaluateFreely(ctx context.Context, read reader, decide Decide, known *snapshot) (p *snapshot, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) (err error) {
		p, err = read(tx, "", known)
		return err
	})
	if err != nil {
		return nil, err
	}
	t := &Tx{now: s.Now()}
	d, err := p.decide(decide, t)
	if err != nil {
		return nil, err
	}
	chunks := slices.Collect(slices.Chunk(d.Hosts, evaluationChunk))
	last := d.Cluster != nil || p.mark.behind() || len(t.batch.QueuedQueries) > 0
	if len(chunks) == 0 && last {
		chunks = append(chunks, nil)
	}
	stale := false
	for i, chunk := range chunks {
		var fresh freshHosts
		err := s.inTx(ctx, func(tx pgx.Tx) (err error) {
			if fresh, err = p.verify(ctx, tx, chunk); err != nil {
				return err
			}
			stale = stale || len(fresh.changes) < len(chunk)
			if err := s.writeHosts(ctx, tx, fresh.changes); err != nil || stale || i < len(chunks)-1 {
				return err
			}
			return s.writeRest(ctx, tx, t, p, d)
		})
		if err != nil {
			return p, err
		}
		p.replace(fresh)
	}
	if stale {
		return p, errStale
	}
	return p, nil
}

// writeHosts writes rows that are locked by tx.
func (s *Store) writeHosts(ctx context.Context, tx pgx.Tx, changes []HostChange) error {
	all := &Tx{now: s.Now()}
	for _, change := range changes {
		reached, row := &Tx{now: all.now}, *change.row
		sql, args := s.hostUpdate(&row, change.changed, reached)
		all.batch.Queue(sql, args...)
		all.batch.QueuedQueries = append(all.batch.QueuedQueries, reached.batch.QueuedQueries...)
		if change.Tx != nil {
			all.batch.QueuedQueries = append(all.batch.QueuedQueries, change.Tx.batch.QueuedQueries...)
			all.events = append(all.events, change.Tx.events...)
		}
	}
	return all.flush(ctx, tx)
}

// writeRest writes the cluster, which is locked by tx, and its events and marks.
func (s *Store) writeRest(ctx context.Context, tx pgx.Tx, t *Tx, p *snapshot, d Decision) error {
	if d.Cluster != nil {
		before, err := clusterRecord(p.cluster)
		if err != nil {
			return err
		}
		if err := s.writeCluster(ctx, tx, t.now, d.Cluster, before); err != nil {
			return err
		}
	}
	if p.mark.behind() {
		t.batch.Queue(`update pulses set evaluated = greatest(evaluated, $2) where subject_id = $1`, p.mark.SubjectID, p.mark.dirty)
	}
	return t.flush(ctx, tx)
}

// snapshot holds the rows an evaluation decides on, with their versions.
type snapshot struct {
	mark           RefreshMark // read before the rows
	server         time.Time   // when the database's server started: versions are of one server
	cluster        *model.Cluster
	clusterVersion string
	hosts          []*model.Host
	versions       []string
	index          map[hostKey]int
}

// decide returns the changes that a decision makes.
func (p *snapshot) decide(decide Decide, t *Tx) (Decision, error) {
	d, err := decide(p.cluster, p.hosts, t)
	if err != nil {
		return d, err
	}
	return p.onlyChanges(d)
}

type hostKey struct{ infraEnv, id uuid.UUID }

func keyOf(h *model.Host) hostKey { return hostKey{h.InfraEnvID, h.ID} }

func (p *snapshot) host(h *model.Host) (*model.Host, bool) {
	i, ok := p.index[keyOf(h)]
	if !ok {
		return nil, false
	}
	return p.hosts[i], true
}

// readMark begins a snapshot. What changes from now on is behind the evaluation.
func readMark(ctx context.Context, tx pgx.Tx, subjectID uuid.UUID) (*snapshot, error) {
	p := &snapshot{mark: RefreshMark{SubjectID: subjectID}}
	err := tx.QueryRow(ctx, `
		select pg_postmaster_start_time(), coalesce(p.dirty, 0), coalesce(p.evaluated, 0)
		from (values ($1::uuid)) s (id) left join pulses p on p.subject_id = s.id`, subjectID,
	).Scan(&p.server, &p.mark.dirty, &p.mark.evaluated)
	if err != nil {
		return nil, fmt.Errorf("read mark of %s: %w", subjectID, err)
	}
	return p, nil
}

// sameHost is the condition that a host is in the known snapshot of readHosts with the same version; of such a host its check-in is
// read, which is no part of the row.
const sameHost = `v.version = h.xmin::text`

var unknownHostColumns = hostTable.selects(
	"doc", "case when "+sameHost+" is not true then h.doc end",
	"facts", "case when "+sameHost+" is not true then h.facts end",
	"connectivity", "case when "+sameHost+" is not true then h.connectivity end",
	"secrets", "case when "+sameHost+" is not true then h.secrets end",
)

func (s *Store) readPictured(ctx context.Context, tx pgx.Tx, p, known *snapshot, lock, where string, arg any) error {
	if !known.server.Equal(p.server) {
		known = &snapshot{}
	}
	err := s.readHosts(ctx, tx, p, known, lock, where, arg)
	if err != nil || !s.compareSnapshots {
		return err
	}
	rows := &snapshot{}
	if err := s.readHosts(ctx, tx, rows, &snapshot{}, lock, where, arg); err != nil {
		return err
	}
	p.compare(rows)
	return nil
}

func (s *Store) readHosts(ctx context.Context, tx pgx.Tx, p, known *snapshot, lock, where string, arg any) error {
	infraEnvs, ids := make([]uuid.UUID, len(known.hosts)), make([]uuid.UUID, len(known.hosts))
	for i, h := range known.hosts {
		infraEnvs[i], ids[i] = h.InfraEnvID, h.ID
	}
	rows, err := tx.Query(ctx, `
		select `+unknownHostColumns+`, `+sameHost+` is true, h.xmin::text from `+hostTables+`
		left join unnest($2::uuid[], $3::uuid[], $4::text[]) v (infra_env_id, id, version) on v.infra_env_id = h.infra_env_id and v.id = h.id
		where `+where+` and h.deleted_at is null
		order by h.infra_env_id, h.id `+forNoKeyUpdate(lock, "h"), arg, infraEnvs, ids, known.versions)
	if err != nil {
		return fmt.Errorf("read hosts: %w", err)
	}
	defer rows.Close()
	p.index = map[hostKey]int{}
	for rows.Next() {
		var same bool
		var version string
		h, err := s.scanHostAnd(rows, &same, &version)
		if err != nil {
			return err
		}
		if same {
			before, _ := known.host(h)
			again := *before
			again.CheckedInAt, again.Timestamp = h.CheckedInAt, h.Timestamp
			h = &again
		}
		p.index[keyOf(h)] = len(p.hosts)
		p.hosts, p.versions = append(p.hosts, h), append(p.versions, version)
	}
	return rows.Err()
}

// freshHosts are changes of hosts that had the versions of a snapshot.
type freshHosts struct {
	changes []HostChange
	version string // the version of the rows when they are written
}

// replace puts hosts that were written in the place of the earlier ones.
func (p *snapshot) replace(written freshHosts) {
	for _, change := range written.changes {
		i := p.index[keyOf(change.Host)]
		p.hosts[i], p.versions[i] = change.Host, written.version
	}
}

// verify locks the cluster and the rows to be written, and returns the changes of hosts that still have the versions of the snapshot.
func (p *snapshot) verify(ctx context.Context, tx pgx.Tx, changes []HostChange) (out freshHosts, err error) {
	if p.cluster != nil {
		var version string
		err := tx.QueryRow(ctx, `
			select xmin::text from clusters where id = $1 and deleted_at is null for no key update`, p.cluster.ID).Scan(&version)
		if isNoRows(err) || err == nil && version != p.clusterVersion {
			return out, errStale
		}
		if err != nil {
			return out, fmt.Errorf("lock cluster %s: %w", p.cluster.ID, err)
		}
	}
	infraEnvs, ids := make([]uuid.UUID, len(changes)), make([]uuid.UUID, len(changes))
	for i, change := range changes {
		infraEnvs[i], ids[i] = change.Host.InfraEnvID, change.Host.ID
	}
	rows, err := tx.Query(ctx, `
		select h.infra_env_id, h.id, h.xmin::text, pg_current_xact_id()::xid::text from hosts h
		where (h.infra_env_id, h.id) in (select * from unnest($1::uuid[], $2::uuid[])) and h.deleted_at is null
		order by h.infra_env_id, h.id
		for no key update of h`, infraEnvs, ids)
	if err != nil {
		return out, fmt.Errorf("lock hosts: %w", err)
	}
	same := map[hostKey]bool{}
	var key hostKey
	var version string
	_, err = pgx.ForEachRow(rows, []any{&key.infraEnv, &key.id, &version, &out.version}, func() error {
		i, ok := p.index[key]
		same[key] = ok && p.versions[i] == version
		return nil
	})
	for _, change := range changes {
		if same[keyOf(change.Host)] {
			out.changes = append(out.changes, change)
		}
	}
	return out, err
}

// versioned reads one more column behind a noun's: the version of its row, the transaction that
// wrote it.
type versioned struct {
	row     pgx.Row
	version *string
}

func (v versioned) Scan(dest ...any) error { return v.row.Scan(append(dest, v.version)...) }

// forNoKeyUpdate ends a query with its lock, one that lets hosts of the cluster be registered meanwhile.
func forNoKeyUpdate(lock, alias string) string {
	if lock == "" {
		return ""
	}
	return lock + " " + alias
}
