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

// infraEnvRow is a row of table infra_envs.
type infraEnvRow struct {
	*model.InfraEnv
	Doc     []byte `db:"doc"`
	Secrets []byte `db:"secrets"`
	KeyName string `db:"token_key_name"`
}

var infraEnvTable = tableOf[infraEnvRow](layout{
	name:    "infra_envs",
	key:     []string{"id"},
	once:    []string{"created_at"},
	follows: []string{"updated_at"},
	read:    map[string]string{"deleted_at": ""},
})

var infraEnvColumns = infraEnvTable.selects()

// CreateInfraEnv adds an InfraEnv; fn adds events.
func (s *Store) CreateInfraEnv(ctx context.Context, e *model.InfraEnv, fn func(*Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t := &Tx{now: s.Now()}
		e.CreatedAt, e.UpdatedAt = t.now, t.now
		row, err := s.infraEnvRecord(e)
		if err != nil {
			return err
		}
		sql, args := infraEnvTable.insert(row)
		_, err = tx.Exec(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("insert infra-env %s: %w", e.ID, kubeKeyTaken(err, e.KubeNamespace, e.KubeName))
		}
		fn(t)
		return t.flush(ctx, tx)
	})
}

// InfraEnv reads one InfraEnv.
func (s *Store) InfraEnv(ctx context.Context, id uuid.UUID) (*model.InfraEnv, error) {
	row := s.pool.QueryRow(ctx, `select `+infraEnvColumns+` from infra_envs where id = $1 and deleted_at is null`, id)
	e, err := s.scanInfraEnv(row)
	return e, notFound(err, "infra-env", id)
}

// InfraEnvOf reads the InfraEnv of a host, also one that was deleted while the host belonged to a cluster.
func (s *Store) InfraEnvOf(ctx context.Context, h *model.Host) (*model.InfraEnv, error) {
	row := s.pool.QueryRow(ctx, `select `+infraEnvColumns+` from infra_envs where id = $1 and (deleted_at is null or $2)`,
		h.InfraEnvID, h.ClusterID != nil)
	e, err := s.scanInfraEnv(row)
	return e, notFound(err, "infra-env", h.InfraEnvID)
}

// InfraEnvFilter narrows a list of InfraEnvs; zero fields do not.
type InfraEnvFilter struct {
	ClusterID uuid.UUID
	Owner     string
	Tenant    Tenant
}

// InfraEnvs lists InfraEnvs, newest first.
func (s *Store) InfraEnvs(ctx context.Context, f InfraEnvFilter) ([]*model.InfraEnv, error) {
	rows, err := s.pool.Query(ctx, `
		select `+infraEnvColumns+` from infra_envs
		where deleted_at is null
		  and (@cluster::uuid is null or cluster_id = @cluster)
		  and (@user = '' or doc->>'user_name' = @user)
		  and `+ofTenant("doc")+`
		order by created_at desc, id`, f.Tenant.args(pgx.NamedArgs{"cluster": uuidOrNull(f.ClusterID), "user": f.Owner}))
	if err != nil {
		return nil, fmt.Errorf("list infra-envs: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*model.InfraEnv, error) { return s.scanInfraEnv(row) })
}

// UpdateInfraEnv runs fn on the locked row and writes it.
func (s *Store) UpdateInfraEnv(ctx context.Context, id uuid.UUID, fn func(*model.InfraEnv, *Tx) error) (*model.InfraEnv, error) {
	var out *model.InfraEnv
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		e, err := s.lockInfraEnv(ctx, tx, id)
		if err != nil {
			return err
		}
		t := &Tx{now: s.Now()}
		if err := fn(e, t); err != nil {
			return err
		}
		e.UpdatedAt, out = t.now, e
		row, err := s.infraEnvRecord(e)
		if err != nil {
			return err
		}
		sql, args := infraEnvTable.update(row, nil)
		_, err = tx.Exec(ctx, sql, args...)
		if err != nil {
			return fmt.Errorf("update infra-env %s: %w", id, err)
		}
		return t.flush(ctx, tx)
	})
	return out, err
}

// DeleteInfraEnv marks an InfraEnv and its hosts without a cluster as deleted. Hosts of a cluster stay in it, and have the
// settings of the InfraEnv until they are deleted too. It returns an ErrConflict while one of its hosts is being prepared,
// installed or reclaimed.
func (s *Store) DeleteInfraEnv(ctx context.Context, id uuid.UUID, fn func(*model.InfraEnv, *Tx)) error {
	return s.inTx(ctx, func(tx pgx.Tx) error { return s.deleteInfraEnv(ctx, tx, id, fn) })
}

func (s *Store) deleteInfraEnv(ctx context.Context, tx pgx.Tx, id uuid.UUID, fn func(*model.InfraEnv, *Tx)) error {
	e, err := s.lockInfraEnv(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := notWhileHostsAreUsed(ctx, tx, id); err != nil {
		return err
	}
	t := &Tx{now: s.Now()}
	fn(e, t)
	t.batch.Queue(`update hosts set deleted_at = $2 where infra_env_id = $1 and cluster_id is null and deleted_at is null`, id, t.now)
	t.batch.Queue(`delete from pulses where subject_id = $1`, id)
	t.batch.Queue(`update infra_envs set deleted_at = $2 where id = $1`, id, t.now)
	return t.flush(ctx, tx)
}

func (s *Store) lockInfraEnv(ctx context.Context, tx pgx.Tx, id uuid.UUID) (*model.InfraEnv, error) {
	row := tx.QueryRow(ctx, `select `+infraEnvColumns+` from infra_envs where id = $1 and deleted_at is null for update`, id)
	e, err := s.scanInfraEnv(row)
	return e, notFound(err, "infra-env", id)
}

// infraEnvRecord encodes and seals an InfraEnv.
func (s *Store) infraEnvRecord(e *model.InfraEnv) (record, error) {
	doc, secrets, err := infraEnvDoc(e)
	if err != nil {
		return nil, err
	}
	sealed, err := s.seal(sealedInfraEnvs, secrets, e.ID)
	if err != nil {
		return nil, err
	}
	return infraEnvTable.record(&infraEnvRow{InfraEnv: e, Doc: doc, Secrets: sealed, KeyName: model.KeyName(e.TokenKey)}), nil
}

func (s *Store) scanInfraEnv(from pgx.Row) (*model.InfraEnv, error) {
	e := &model.InfraEnv{}
	row := infraEnvRow{InfraEnv: e}
	if err := infraEnvTable.scan(from, &row); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(row.Doc, e); err != nil {
		return nil, fmt.Errorf("decode infra-env %s: %w", e.ID, err)
	}
	var secrets infraEnvSecrets
	if err := s.open(sealedInfraEnvs, row.Secrets, e.ID, &secrets); err != nil {
		return nil, err
	}
	e.PullSecret, e.TokenKey = model.Secret(secrets.PullSecret), model.Secret(secrets.TokenKey)
	e.IgnitionConfigOverride = cmp.Or(secrets.Override, e.IgnitionConfigOverride)
	secrets.give(&e.Proxy)
	if secrets.KernelArguments != nil {
		e.KernelArguments = secrets.KernelArguments
	}
	return e, nil
}

// TokenKey reads the key that signs the image addresses of an InfraEnv.
func (s *Store) TokenKey(ctx context.Context, infraEnvID uuid.UUID) (model.Secret, error) {
	e, err := s.InfraEnv(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return e.TokenKey, nil
}

// KeyReplaced reads when a user replaced the key of an InfraEnv last; zero: never.
func (s *Store) KeyReplaced(ctx context.Context, infraEnvID uuid.UUID) (time.Time, error) {
	e, err := s.InfraEnv(ctx, infraEnvID)
	if err != nil {
		return time.Time{}, err
	}
	return e.KeyReplacedAt, nil
}

// InfraEnvsOf lists the InfraEnvs of a cluster: its own, and those whose
// hosts were bound to it later.
func (s *Store) InfraEnvsOf(ctx context.Context, clusterID uuid.UUID, hosts []*model.Host) ([]*model.InfraEnv, error) {
	envs, err := s.InfraEnvs(ctx, InfraEnvFilter{ClusterID: clusterID})
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if slices.ContainsFunc(envs, func(e *model.InfraEnv) bool { return e.ID == h.InfraEnvID }) {
			continue
		}
		e, err := s.InfraEnvOf(ctx, h)
		if err != nil {
			return nil, err
		}
		envs = append(envs, e)
	}
	return envs, nil
}
