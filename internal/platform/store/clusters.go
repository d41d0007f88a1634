package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

const clusterColumns = `
	c.id, c.kind, c.name, c.status, c.status_info, c.status_updated_at, c.install_attempt, c.workflow_started,
	c.network_generation, coalesce(p.hosts_generation, 0), c.doc, c.secrets, c.created_at, c.updated_at, c.deleted_at`

const clusterTables = `clusters c left join pulses p on p.subject_id = c.id`

// ClusterFilter narrows a list of clusters; zero fields do not.
type ClusterFilter struct {
	OpenShiftClusterID *uuid.UUID // nil: any
	Owner              string
	Tenant             Tenant
	Deleted            bool // also those that were deleted and not yet removed for good
}

// CreateCluster adds a cluster; fn adds events and marks.
func (s *Store) CreateCluster(ctx context.Context, c *model.Cluster, fn func(*Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		c.CreatedAt, c.UpdatedAt, c.StatusUpdatedAt = t.now, t.now, t.now
		row, err := s.clusterRow(c)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			insert into clusters (id, kind, name, status, status_info, status_updated_at, install_attempt, workflow_started,
			  network_generation, doc, secrets, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`,
			c.ID, c.Kind, c.Name, c.Status, c.StatusInfo, c.StatusUpdatedAt, c.InstallAttempt, c.WorkflowStarted,
			c.NetworkGeneration, row.doc, row.secrets, t.now)
		if err != nil {
			return fmt.Errorf("insert cluster %s: %w", c.ID, err)
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

// Clusters calls yield for each cluster, newest first, while rows stream.
func (s *Store) Clusters(ctx context.Context, f ClusterFilter, yield func(*model.Cluster) error) error {
	rows, err := s.pool.Query(ctx, `
		select `+clusterColumns+` from `+clusterTables+`
		where (c.deleted_at is null or @deleted)
		  and (@openshift_id::uuid is null or c.doc->>'openshift_cluster_id' = @openshift_id::text)
		  and (@user = '' or c.doc->>'user_name' = @user)
		  and `+ofTenant("c.doc")+`
		order by c.created_at desc, c.id`,
		f.Tenant.args(pgx.NamedArgs{"openshift_id": f.OpenShiftClusterID, "user": f.Owner, "deleted": f.Deleted}))
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

// DeleteCluster marks a cluster and the hosts of its own InfraEnvs as deleted. fn may refuse and adds events, and
// takes the cluster's borrowed hosts, those of other InfraEnvs, out of it.
// It returns an ErrConflict while a host is installed into an existing cluster.
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
	t.batch.Queue(`update infra_envs set cluster_id = null where cluster_id = $1`, id)
	t.batch.Queue(`delete from pulses where subject_id = $1`, id)
	t.batch.Queue(`update clusters set deleted_at = $2 where id = $1`, id, t.now)
	return t.flush(ctx, tx)
}

// rowState holds the row's values before the closure ran, to write only changed columns.
type rowState struct {
	columns []byte
	doc     []byte
	secrets []byte
	plain   []byte // secrets before sealing
	status  string
}

func (s *Store) lockCluster(ctx context.Context, tx pgx.Tx, id uuid.UUID) (*model.Cluster, rowState, error) {
	row := tx.QueryRow(ctx, `
		select `+clusterColumns+` from `+clusterTables+`
		where c.id = $1 and c.deleted_at is null
		for update of c`, id)
	c, err := s.scanCluster(row)
	if err != nil {
		return nil, rowState{}, notFound(err, "cluster", id)
	}
	before, err := s.clusterState(c)
	return c, before, err
}

func (s *Store) writeCluster(ctx context.Context, tx pgx.Tx, now time.Time, c *model.Cluster, before rowState) error {
	after, err := s.clusterState(c)
	if err != nil {
		return err
	}
	same := bytes.Equal(before.columns, after.columns) && bytes.Equal(before.doc, after.doc) && bytes.Equal(before.plain, after.plain)
	if same {
		return nil
	}
	if before.status != after.status {
		c.StatusUpdatedAt = now
	}
	row, err := s.clusterRow(c)
	if err != nil {
		return err
	}
	c.UpdatedAt = now
	_, err = tx.Exec(ctx, `
		update clusters set
		  kind = $2, name = $3, status = $4, status_info = $5, status_updated_at = $6, install_attempt = $7,
		  workflow_started = $8, network_generation = $9, doc = $10, secrets = $11, updated_at = $12
		where id = $1`,
		c.ID, c.Kind, c.Name, c.Status, c.StatusInfo, c.StatusUpdatedAt, c.InstallAttempt,
		c.WorkflowStarted, c.NetworkGeneration, row.doc, row.secrets, now)
	if err != nil {
		return fmt.Errorf("update cluster %s: %w", c.ID, err)
	}
	if before.status == after.status {
		return nil
	}
	t := &Tx{now: now}
	clusterReached(&t.batch, c, now)
	return t.flush(ctx, tx)
}

func (s *Store) clusterState(c *model.Cluster) (rowState, error) {
	doc, secrets, err := clusterDoc(c)
	if err != nil {
		return rowState{}, err
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return rowState{}, fmt.Errorf("encode secrets of cluster %s: %w", c.ID, err)
	}
	columns := fmt.Appendf(nil, "%s|%s|%s|%s|%d|%t|%d",
		c.Kind, c.Name, c.Status, c.StatusInfo, c.InstallAttempt, c.WorkflowStarted, c.NetworkGeneration)
	return rowState{columns: columns, doc: doc, plain: plain, status: string(c.Status)}, nil
}

func (s *Store) clusterRow(c *model.Cluster) (rowState, error) {
	state, err := s.clusterState(c)
	if err != nil {
		return rowState{}, err
	}
	state.secrets = s.sealer.Seal(state.plain, c.ID[:])
	return state, nil
}

func (s *Store) scanCluster(row pgx.Row) (*model.Cluster, error) {
	var c model.Cluster
	var doc, sealed []byte
	var deleted *time.Time
	err := row.Scan(&c.ID, &c.Kind, &c.Name, &c.Status, &c.StatusInfo, &c.StatusUpdatedAt, &c.InstallAttempt, &c.WorkflowStarted,
		&c.NetworkGeneration, &c.HostsGeneration, &doc, &sealed, &c.CreatedAt, &c.UpdatedAt, &deleted)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc, &c); err != nil {
		return nil, fmt.Errorf("decode cluster %s: %w", c.ID, err)
	}
	var secrets clusterSecrets
	if err := s.open(sealed, c.ID, &secrets); err != nil {
		return nil, err
	}
	c.PullSecret, c.DeletedAt = model.Secret(secrets.PullSecret), orZero(deleted)
	c.InstallConfigOverride = cmp.Or(secrets.Override, c.InstallConfigOverride)
	secrets.give(&c.Proxy)
	return &c, nil
}

func uuidOrNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// KeptCluster is Cluster for administrators: it also finds a deleted one until it is
// removed for good.
func (s *Store) KeptCluster(ctx context.Context, id uuid.UUID) (*model.Cluster, error) {
	row := s.pool.QueryRow(ctx, `select `+clusterColumns+` from `+clusterTables+` where c.id = $1`, id)
	c, err := s.scanCluster(row)
	return c, notFound(err, "cluster", id)
}
