-- What lists show of a host, rendered when its row is written, in the form of the program that wrote it. It is compressed already.
alter table slipway.hosts add column shown bytea, add column shown_form smallint not null default 0;
alter table slipway.hosts alter column shown set storage external;

-- Whoever changes a host without rendering it leaves no text: a program of an earlier version, or a person with psql.
-- A text has the time of its change, and equals none before.
create function slipway.forget_shown() returns trigger language plpgsql as $$
begin
  new.shown := null;
  return new;
end $$;
create trigger hosts_shown
  before update of cluster_id, kind, status, status_info, status_updated_at, role, bootstrap, stage, doc, created_at, deleted_at on slipway.hosts
  for each row
  when (new.shown is not null and old.shown is not distinct from new.shown)
  execute function slipway.forget_shown();
