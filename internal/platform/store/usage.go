package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Usage is how many bytes are kept from hosts: their documents as the database stores them, and uploaded logs.
type Usage struct {
	InfraEnv int64 // zero of a cluster
	// Tenant counts all InfraEnvs and clusters of the owner, also deleted clusters whose files are not removed yet.
	Tenant int64
	// Owner identifies the tenant.
	Owner string
}

// bytesOfHost is the size of the row of a host. The database knows it without reading the documents.
const bytesOfHost = `h.logs_bytes + pg_column_size(h.doc) + coalesce(pg_column_size(h.connectivity), 0)`

// sameOwner is the condition that a document is of the owner that the query found first.
const sameOwner = `coalesce(%[1]s.doc->>'org_id', '') = o.org
	  and (o.org <> '' or coalesce(%[1]s.doc->>'user_name', '') = o.name)`

// Usage returns how many bytes are kept of an InfraEnv or, where that is zero, of a cluster. It visits the rows of all hosts of the tenant.
func (s *Store) Usage(ctx context.Context, infraEnvID, clusterID uuid.UUID) (u Usage, err error) {
	err = s.pool.QueryRow(ctx, `
		with o as (
		  select coalesce(doc->>'org_id', '') as org, coalesce(doc->>'user_name', '') as name from infra_envs where id = $1
		  union all
		  select coalesce(doc->>'org_id', ''), coalesce(doc->>'user_name', '') from clusters where id = $2
		), kept as (
		  select h.infra_env_id, sum(`+bytesOfHost+`) as bytes
		  from o join infra_envs e on `+fmt.Sprintf(sameOwner, "e")+`
		  join hosts h on h.infra_env_id = e.id and h.deleted_at is null
		  group by 1
		)
		select coalesce((select bytes from kept where infra_env_id = $1), 0)::bigint,
		  (coalesce((select sum(bytes) from kept), 0)
		   + coalesce((select sum(c.logs_bytes) from o join clusters c on `+fmt.Sprintf(sameOwner, "c")+`), 0))::bigint,
		  case when o.org <> '' then 'org ' || o.org else 'user ' || o.name end
		from o`, uuidOrNull(infraEnvID), uuidOrNull(clusterID)).Scan(&u.InfraEnv, &u.Tenant, &u.Owner)
	switch {
	case isNoRows(err):
		return u, model.NotFoundf("infra-env %s was not found", infraEnvID)
	case err != nil:
		return u, fmt.Errorf("count the bytes of infra-env %s: %w", infraEnvID, err)
	}
	return u, nil
}

// InventoryBytes returns the size of the inventory of a host; zero without one.
func (s *Store) InventoryBytes(ctx context.Context, infraEnvID, id uuid.UUID) (bytes int64, err error) {
	err = s.pool.QueryRow(ctx, `
		select coalesce(octet_length((doc->'inventory')::text), 0) from hosts
		where infra_env_id = $1 and id = $2 and deleted_at is null`, infraEnvID, id).Scan(&bytes)
	return bytes, notFound(err, "host", id)
}
