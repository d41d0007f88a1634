-- Which clusters, hosts and InfraEnvs changed, in an order that readers can follow. Triggers append to change_log, which no writer waits
-- for. Readers number what is there, under the lock of change_feed: a transaction that ends late gets a later number, and no cursor passes it.
create table slipway.change_feed (
  one   boolean primary key default true check (one),
  epoch uuid    not null default gen_random_uuid(), -- another one when the database was restored: cursors of before do not count
  last  bigint  not null default 0, -- the newest number
  floor bigint  not null default 0  -- deletions up to this number may have been removed
);
insert into slipway.change_feed default values;

create table slipway.change_log (
  id           bigint  generated always as identity primary key,
  kind         text    not null,
  object_id    uuid    not null,
  infra_env_id uuid,
  cluster_id   uuid,
  gone         boolean not null
);

-- The newest change of each object.
create table slipway.changes (
  kind         text        not null check (kind in ('cluster', 'host', 'infra-env')),
  object_id    uuid        not null,
  infra_env_id uuid        not null, -- zero for a cluster
  cluster_id   uuid,
  gone         boolean     not null,
  n            bigint      not null unique,
  at           timestamptz not null,
  primary key (object_id, infra_env_id, kind)
);
create index changes_gone on slipway.changes (at) where gone;

create function slipway.log_change() returns trigger language plpgsql as $$
declare
  o record;
begin
  if tg_op = 'DELETE' then
    o := old;
  else
    o := new;
  end if;
  case tg_table_name
    when 'clusters' then
      insert into slipway.change_log (kind, object_id, cluster_id, gone)
        values ('cluster', o.id, o.id, tg_op = 'DELETE' or o.deleted_at is not null);
    when 'infra_envs' then
      insert into slipway.change_log (kind, object_id, infra_env_id, cluster_id, gone)
        values ('infra-env', o.id, o.id, o.cluster_id, tg_op = 'DELETE' or o.deleted_at is not null);
    when 'hosts' then
      insert into slipway.change_log (kind, object_id, infra_env_id, cluster_id, gone)
        values ('host', o.id, o.infra_env_id, o.cluster_id, tg_op = 'DELETE' or o.deleted_at is not null);
    when 'monitored_operators' then
      insert into slipway.change_log (kind, object_id, cluster_id, gone)
        select 'cluster', c.id, c.id, c.deleted_at is not null from slipway.clusters c where c.id = o.cluster_id;
  end case;
  return null;
end $$;

-- What a host was asked (facts) is no change: updated_at follows all others.
create trigger log_change after insert or delete or update of updated_at, deleted_at, cluster_id on slipway.hosts
  for each row execute function slipway.log_change();
create trigger log_change after insert or delete or update of updated_at, deleted_at on slipway.clusters
  for each row execute function slipway.log_change();
create trigger log_change after insert or delete or update of updated_at, deleted_at, cluster_id on slipway.infra_envs
  for each row execute function slipway.log_change();
create trigger log_change after insert or delete or update on slipway.monitored_operators
  for each row execute function slipway.log_change();
