-- The newest change of a cluster with its hosts, and of an InfraEnv with its hosts, is the version of what readers see of them.
create index changes_of_cluster on slipway.changes (cluster_id, n);
create index changes_of_infra_env on slipway.changes (infra_env_id, n);

-- A cluster is not as it was when a host leaves it, which the newest changes of the hosts that stay do not show.
create function slipway.log_leaving() returns trigger language plpgsql as $$
begin
  insert into slipway.change_log (kind, object_id, cluster_id, gone)
    select 'cluster', c.id, c.id, c.deleted_at is not null from slipway.clusters c where c.id = old.cluster_id;
  return null;
end $$;
create trigger log_leaving after update of cluster_id on slipway.hosts for each row
  when (old.cluster_id is not null and old.cluster_id is distinct from new.cluster_id)
  execute function slipway.log_leaving();

-- Each poll with a token reads it; documents are large.
alter table slipway.hosts add column token_generation integer
  generated always as (coalesce((doc->>'token_generation')::integer, 0)) stored;
