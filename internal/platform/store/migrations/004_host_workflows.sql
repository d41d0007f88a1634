-- Hosts whose accepted workflow does not run yet: few, and looked for all the time.
create index hosts_unstarted on slipway.hosts (infra_env_id, id) where doc ? 'pending_workflow' and deleted_at is null;
