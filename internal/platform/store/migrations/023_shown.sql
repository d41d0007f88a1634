-- What lists show of a host or a cluster, rendered when its row is written, in the form of the program that wrote it. It is compressed
-- already.
alter table slipway.hosts add column shown bytea, add column shown_form smallint not null default 0;
alter table slipway.hosts alter column shown set storage external;
-- The inventory apart: most lists come without.
alter table slipway.hosts add column shown_inventory bytea;
alter table slipway.hosts alter column shown_inventory set storage external;
alter table slipway.clusters add column shown bytea, add column shown_form smallint not null default 0;
alter table slipway.clusters alter column shown set storage external;

-- Counts of hosts read it, and documents are large.
alter table slipway.hosts add column suggested_role text not null default '';
update slipway.hosts set suggested_role = doc->>'suggested_role' where doc ? 'suggested_role';

-- Whoever changes a row without rendering it leaves no text: a program of an earlier version, or a person with psql.
-- A text has the time of its change, and equals none before.
create function slipway.forget_shown() returns trigger language plpgsql as $$
begin
  new.shown := null;
  return new;
end $$;
create trigger forget_shown
  before update of cluster_id, kind, status, status_info, status_updated_at, role, suggested_role, bootstrap, stage, doc, created_at,
    deleted_at
  on slipway.hosts for each row
  when (new.shown is not null and old.shown is not distinct from new.shown)
  execute function slipway.forget_shown();
create trigger forget_shown
  before update of kind, name, status, status_info, status_updated_at, doc, created_at, deleted_at on slipway.clusters for each row
  when (new.shown is not null and old.shown is not distinct from new.shown)
  execute function slipway.forget_shown();
