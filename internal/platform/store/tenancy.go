package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"slipway/internal/model"
)

// Tenant says whose objects may be read and changed: an organization's, or the objects that an owner without one has made. The zero
// tenant has all.
type Tenant struct {
	Owner string // counts without an OrgID
	OrgID string
}

// args adds the arguments of ofTenant's conditions.
func (t Tenant) args(more pgx.NamedArgs) pgx.NamedArgs {
	if more == nil {
		more = pgx.NamedArgs{}
	}
	more["owner"], more["org"] = t.Owner, t.OrgID
	return more
}

// anyTenant is the condition that a list is not narrowed.
const anyTenant = `(@owner = '' and @org = '')`

// ofTenant returns the condition that the tenant has an object with a document.
func ofTenant(doc string) string {
	return `(` + anyTenant + ` or @org <> '' and ` + doc + `->>'org_id' = @org
	  or @org = '' and ` + doc + `->>'user_name' = @owner and coalesce(` + doc + `->>'org_id', '') = '')`
}

// eventTenant keeps events of clusters and InfraEnvs that a tenant may see.
var eventTenant = `(` + anyTenant + `
		  or exists (select from clusters c where c.id = e.cluster_id and ` + ofTenant("c.doc") + `)
		  or exists (select from infra_envs i where i.id = e.infra_env_id and ` + ofTenant("i.doc") + `))`

// CheckTenant returns a model.ErrNotFound for a cluster or an InfraEnv (zero: none is asked for) that the tenant does not have,
// whether it exists or not. Deleted objects are the tenant's until they are removed for good.
func (s *Store) CheckTenant(ctx context.Context, t Tenant, clusterID, infraEnvID uuid.UUID) error {
	var cluster, infraEnv bool
	err := s.pool.QueryRow(ctx, `
		select exists (select from clusters c where c.id = @cluster and `+ofTenant("c.doc")+`),
		  exists (select from infra_envs i where i.id = @infra_env and `+ofTenant("i.doc")+`)`,
		t.args(pgx.NamedArgs{"cluster": clusterID, "infra_env": infraEnvID})).Scan(&cluster, &infraEnv)
	switch {
	case err != nil:
		return fmt.Errorf("ask whose cluster %s and infra-env %s are: %w", clusterID, infraEnvID, err)
	case infraEnvID != uuid.Nil && !infraEnv:
		return model.NotFoundf("infra-env %s was not found", infraEnvID)
	case clusterID != uuid.Nil && !cluster:
		return model.NotFoundf("cluster %s was not found", clusterID)
	}
	return nil
}

// Related reports whether hosts of an InfraEnv belong or belonged to a cluster: the cluster is the InfraEnv's
// own, or one of its hosts was bound to it.
func (s *Store) Related(ctx context.Context, infraEnvID, clusterID uuid.UUID) (bool, error) {
	var related bool
	err := s.pool.QueryRow(ctx, `
		select exists (select from infra_envs where id = $1 and cluster_id = $2 and deleted_at is null)
		  or exists (select from hosts where infra_env_id = $1 and cluster_id = $2 and deleted_at is null)`,
		infraEnvID, clusterID).Scan(&related)
	if err != nil {
		return false, fmt.Errorf("ask whether infra-env %s has hosts of cluster %s: %w", infraEnvID, clusterID, err)
	}
	return related, nil
}
