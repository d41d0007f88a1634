package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// Tenant narrows a list to the objects that an owner, or all members of an organisation, may see; zero fields
// do not narrow.
type Tenant struct {
	Owner string
	OrgID string
}

// eventTenant keeps events of clusters and InfraEnvs that a tenant may see.
const eventTenant = `(@owner = '' and @org = ''
		  or exists (select from clusters c where c.id = e.cluster_id
		    and (@owner = '' or c.doc->>'user_name' = @owner) and (@org = '' or c.doc->>'org_id' = @org))
		  or exists (select from infra_envs i where i.id = e.infra_env_id
		    and (@owner = '' or i.doc->>'user_name' = @owner) and (@org = '' or i.doc->>'org_id' = @org)))`

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
