package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// clusterRow is a row of table clusters.
type clusterRow struct {
	*model.Cluster
	Doc     []byte `db:"doc"`
	Secrets []byte `db:"secrets"` // in clear in records that are compared
	// Shown is made by Options.Rendering, in its form; nil where none is kept.
	Shown     []byte `db:"shown"`
	ShownForm int16  `db:"shown_form"`
}

var clusterTable = tableOf[clusterRow](layout{
	name: "clusters", alias: "c",
	key:     []string{"id"},
	once:    []string{"created_at"},
	follows: []string{"status_updated_at", "updated_at"},
	derived: []string{"shown", "shown_form"},
	read:    map[string]string{"hosts_generation": "coalesce(p.hosts_generation, 0)", "deleted_at": ""},
})

var clusterColumns = clusterTable.selects()

const clusterTables = `clusters c left join pulses p on p.subject_id = c.id`

// ClusterFilter narrows a list of clusters; zero fields do not.
type ClusterFilter struct {
	OpenShiftClusterID *uuid.UUID // nil: any
	Owner              string
	Tenant             Tenant
	Deleted            bool // also those that were deleted and not yet removed for good
	OnlyDeleted        bool // deleted ones that can still be brought back
	Statuses           []string
	Name               string   // part of the name, any case
	Tags               []string // all of these
	UpdatedSince       time.Time
	After              *Place
	Limit, Offset      int // of a page; a limit of zero: all
}

// CreateCluster adds a cluster; fn adds events and marks.
func (s *Store) CreateCluster(ctx context.Context, c *model.Cluster, fn func(*Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		c.CreatedAt, c.UpdatedAt, c.StatusUpdatedAt = t.now, t.now, t.now
		row, err := rowOfCluster(c)
		if err != nil {
			return err
		}
		row.Secrets = s.sealer.Seal(sealedClusters, row.Secrets, c.ID[:])
		row.Shown, row.ShownForm = s.rendering.cluster(c)
		sql, args := clusterTable.insert(clusterTable.record(row))
		_, err = tx.Exec(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("insert cluster %s: %w", c.ID, kubeKeyTaken(err, c.KubeNamespace, c.KubeName))
		}
		if c.Status != model.ClusterUnmonitored { // no one watches the others
			t.RefreshCluster(c.ID)
		}
		fn(t)
		return t.flush(ctx, tx)
	})
}

// Cluster reads one cluster, without its hosts. It returns an ErrNotFound for a
// deleted one.
func (s *Store) Cluster(ctx context.Context, id uuid.UUID) (*model.Cluster, error) {
	row := s.pool.QueryRow(ctx, `select `+clusterColumns+` from `+clusterTables+` where c.id = $1 and c.deleted_at is null`, id)
	c, err := s.scanCluster(row)
	return c, notFound(err, "cluster", id)
}

// filteredClusters are the clusters of a ClusterFilter.
var filteredClusters = `case when @only_deleted then c.deleted_at is not null and not c.purge_begun else c.deleted_at is null or @deleted end
		  and (@openshift_id::uuid is null or c.doc->>'openshift_cluster_id' = @openshift_id::text)
		  and (@user = '' or c.doc->>'user_name' = @user)
		  and (@statuses::text[] is null or c.status = any (@statuses))
		  and (@name = '' or position(lower(@name) in lower(c.name)) > 0)
		  and (@tags::text[] is null or string_to_array(c.doc->>'tags', ',') @> @tags::text[])
		  and (@updated_since::timestamptz is null or c.updated_at >= @updated_since)
		  and (@after_at::timestamptz is null or c.created_at < @after_at or c.created_at = @after_at and c.id > @after_id::uuid)
		  and ` + ofTenant("c.doc") + ``

func (f ClusterFilter) args() pgx.NamedArgs {
	return f.After.args(f.Tenant.args(pgx.NamedArgs{
		"openshift_id": f.OpenShiftClusterID, "user": f.Owner, "deleted": f.Deleted, "only_deleted": f.OnlyDeleted,
		"statuses": nilIfEmpty(f.Statuses), "name": f.Name, "tags": nilIfEmpty(f.Tags), "updated_since": timeOrNull(f.UpdatedSince),
		"limit": f.Limit, "offset": f.Offset,
	}))
}

// page is the end of a query of the rows of a page.
const page = `limit nullif(@limit::bigint, 0) offset @offset::bigint`

// Clusters calls yield for each cluster, newest first, while rows stream.
func (s *Store) Clusters(ctx context.Context, f ClusterFilter, yield func(*model.Cluster) error) error {
	rows, err := s.pool.Query(ctx, `
		select `+clusterColumns+` from `+clusterTables+`
		where `+filteredClusters+`
		order by c.created_at desc, c.id `+page, f.args())
	if err != nil {
		return fmt.Errorf("list clusters: %w", err)
	}
	return visit(rows, s.scanCluster, yield)
}

// UpdateCluster runs fn on the locked row and writes what changed. An error of fn leaves everything unchanged.
func (s *Store) UpdateCluster(ctx context.Context, id uuid.UUID, fn func(*model.Cluster, *Tx) error) (*model.Cluster, error) {
	var out *model.Cluster
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		c, before, err := s.lockCluster(ctx, tx, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(c, t); err != nil {
			return err
		}
		out = c
		if err := s.writeCluster(ctx, tx, t.now, c, before); err != nil {
			return err
		}
		return t.flush(ctx, tx)
	})
	return out, err
}

// UpdateInstallation locks a cluster and all its hosts (in the order of their ids,
// which is also the order fn sees) and writes what changed.
func (s *Store) UpdateInstallation(ctx context.Context, id uuid.UUID, fn func(*model.Cluster, []*model.Host, *Tx) error) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		c, before, err := s.lockCluster(ctx, tx, id)
		if err != nil {
			return err
		}
		hosts, hostsBefore, err := s.lockHosts(ctx, tx, hostsOfCluster, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(c, hosts, t); err != nil {
			return err
		}
		if err := s.writeCluster(ctx, tx, t.now, c, before); err != nil {
			return err
		}
		for i, h := range hosts {
			if err := s.writeHost(ctx, tx, t.now, h, hostsBefore[i]); err != nil {
				return err
			}
		}
		return t.flush(ctx, tx)
	})
}

// UnstartedInstallations lists clusters whose accepted installation has no workflow yet.
func (s *Store) UnstartedInstallations(ctx context.Context) ([]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, `select id from clusters where not workflow_started and deleted_at is null order by id`)
	if err != nil {
		return nil, fmt.Errorf("list unstarted installations: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

// WorkflowStarted records that the workflow of an installation attempt runs.
func (s *Store) WorkflowStarted(ctx context.Context, id uuid.UUID, attempt int) error {
	_, err := s.pool.Exec(ctx, `update clusters set workflow_started = true where id = $1 and install_attempt = $2`, id, attempt)
	return err
}

// DeleteCluster marks a cluster and the hosts of its own InfraEnvs as deleted. fn may refuse and adds events, and takes the cluster's
// borrowed hosts, which belong to other InfraEnvs, out of it. It returns an ErrConflict while a host is installed into an existing
// cluster.
func (s *Store) DeleteCluster(ctx context.Context, id uuid.UUID, fn DeletesCluster) error {
	return s.inTx(ctx, func(tx pgx.Tx) error { return s.deleteCluster(ctx, tx, id, fn) })
}

// DeletesCluster decides about the deletion of a cluster, see [Store.DeleteCluster].
type DeletesCluster func(c *model.Cluster, borrowed []*model.Host, t *Tx) error

func (s *Store) deleteCluster(ctx context.Context, tx pgx.Tx, id uuid.UUID, fn DeletesCluster) error {
	c, _, err := s.lockCluster(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := notWhileHostsJoin(ctx, tx, c); err != nil {
		return err
	}
	borrowed, before, err := s.lockHosts(ctx, tx, borrowedHosts, id)
	if err != nil {
		return err
	}
	t := &Tx{now: s.Now()}
	if err := fn(c, borrowed, t); err != nil {
		return err
	}
	for i, h := range borrowed {
		if err := s.writeHost(ctx, tx, t.now, h, before[i]); err != nil {
			return err
		}
	}
	if err := s.countFailedValidations(ctx, tx, id, t); err != nil {
		return err
	}
	t.SupersedeCluster(id)
	t.batch.Queue(`update hosts set deleted_at = $2 where cluster_id = $1 and deleted_at is null`, id, t.now)
	t.batch.Queue(`
		update infra_envs set cluster_id = null, doc = doc || jsonb_build_object('former_cluster_id', cluster_id) where cluster_id = $1`, id)
	t.batch.Queue(`delete from pulses where subject_id = $1`, id)
	t.batch.Queue(`update clusters set deleted_at = $2 where id = $1`, id, t.now)
	return t.flush(ctx, tx)
}

func (s *Store) lockCluster(ctx context.Context, tx pgx.Tx, id uuid.UUID) (*model.Cluster, record, error) {
	row := tx.QueryRow(ctx, `
		select `+clusterColumns+` from `+clusterTables+`
		where c.id = $1 and c.deleted_at is null
		for update of c`, id)
	c, err := s.scanCluster(row)
	if err != nil {
		return nil, nil, notFound(err, "cluster", id)
	}
	before, err := clusterRecord(c)
	return c, before, err
}

// writeCluster writes a cluster that has changed.
func (s *Store) writeCluster(ctx context.Context, tx pgx.Tx, now time.Time, c *model.Cluster, before record) error {
	row, err := rowOfCluster(c)
	if err != nil {
		return err
	}
	changed := clusterTable.changed(before, clusterTable.record(row))
	if len(changed) == 0 {
		return nil
	}
	t := &Tx{now: now}
	if slices.Contains(changed, "status") {
		c.StatusUpdatedAt = now
		clusterReached(&t.batch, c, now)
	}
	c.UpdatedAt = now
	row.Secrets = s.sealer.Seal(sealedClusters, row.Secrets, c.ID[:])
	row.Shown, row.ShownForm = s.rendering.cluster(c)
	sql, args := clusterTable.update(clusterTable.record(row), changed)
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("update cluster %s: %w", c.ID, err)
	}
	return t.flush(ctx, tx)
}

// rowOfCluster encodes a cluster; its secrets are in clear.
func rowOfCluster(c *model.Cluster) (*clusterRow, error) {
	doc, secrets, err := clusterDoc(c)
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of cluster %s: %w", c.ID, err)
	}
	return &clusterRow{Cluster: c, Doc: doc, Secrets: plain}, nil
}

// clusterRecord encodes a cluster for comparisons with later versions.
func clusterRecord(c *model.Cluster) (record, error) {
	row, err := rowOfCluster(c)
	if err != nil {
		return nil, err
	}
	return clusterTable.record(row), nil
}

func (s *Store) scanCluster(from pgx.Row) (*model.Cluster, error) { return s.scanClusterAnd(from) }

// scanClusterAnd reads a cluster and what a query has beside its columns. A row without a document leaves its fields empty.
func (s *Store) scanClusterAnd(from pgx.Row, more ...any) (*model.Cluster, error) {
	c := &model.Cluster{}
	row := clusterRow{Cluster: c}
	if err := clusterTable.scan(from, &row, more...); err != nil {
		return nil, err
	}
	if row.Doc != nil {
		if err := json.Unmarshal(row.Doc, c); err != nil {
			return nil, fmt.Errorf("decode cluster %s: %w", c.ID, err)
		}
	}
	var secrets clusterSecrets
	if err := s.open(sealedClusters, row.Secrets, c.ID, &secrets); err != nil {
		return nil, err
	}
	c.PullSecret = model.Secret(secrets.PullSecret)
	c.InstallConfigOverride = cmp.Or(secrets.Override, c.InstallConfigOverride)
	c.UISettings = cmp.Or(secrets.UISettings, c.UISettings)
	secrets.give(&c.Proxy)
	return c, nil
}

func uuidOrNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// KeptCluster works as Cluster, for administrators: it also finds a deleted one until it is removed
// for good.
func (s *Store) KeptCluster(ctx context.Context, id uuid.UUID) (*model.Cluster, error) {
	row := s.pool.QueryRow(ctx, `select `+clusterColumns+` from `+clusterTables+` where c.id = $1`, id)
	c, err := s.scanCluster(row)
	return c, notFound(err, "cluster", id)
}
