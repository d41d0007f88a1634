-- A cluster has one bootstrap host at most. Of several hosts that join a single node each could be its one node: which of them
-- leave is decided before it is installed.
drop index slipway.hosts_bootstrap;
create unique index hosts_bootstrap on slipway.hosts (cluster_id)
  where bootstrap and deleted_at is null and not (doc ? 'of_single_node');
