-- What users did, one row for a command or a read of secrets. Rows outlive the objects that they name. A row is written before its request
-- has an effect; its outcome is added once. The lengths bound a row.
create table slipway.audit (
  id           bigint      generated always as identity primary key,
  at           timestamptz not null,
  user_name    text        not null check (length(user_name) <= 256), -- empty: the credential names no user
  credential   text        not null check (credential in ('token', 'oidc', 'session', 'address', 'machine', 'none')),
  token_id     uuid,
  org_id       text        not null check (length(org_id) <= 256),
  role         text        not null check (length(role) <= 32),
  address      text        not null check (length(address) <= 64),
  operation    text        not null check (length(operation) <= 64),
  method       text        not null check (length(method) <= 16),
  path         text        not null check (length(path) <= 160), -- with the names of its ids, not their values
  subject      text        not null check (length(subject) <= 200),
  cluster_id   uuid,
  infra_env_id uuid,
  host_id      uuid,
  request_id   text        not null check (length(request_id) <= 64),
  detail       text        not null check (length(detail) <= 512),
  outcome      text        not null check (outcome in ('unknown', 'ok', 'refused', 'failed')),
  status       int         not null, -- zero: no answer yet, or a decision without one
  ended_at     timestamptz
);
create index audit_user on slipway.audit (user_name, id);
create index audit_cluster on slipway.audit (cluster_id, id) where cluster_id is not null;
create index audit_at on slipway.audit (at);

-- Refuses to change rows, except for the outcome of a row without one, and for old rows in a transaction that says it purges. It stops
-- mistakes of programs and people, not the owner of the table, who may remove the trigger.
create function slipway.keep_audit() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.outcome = 'unknown' and new.outcome <> 'unknown'
      and (old.cluster_id is null or new.cluster_id is not distinct from old.cluster_id)
      and (old.infra_env_id is null or new.infra_env_id is not distinct from old.infra_env_id)
      and (old.subject = '' or new.subject = old.subject)
      and to_jsonb(new) - '{outcome,status,ended_at,cluster_id,infra_env_id,subject}'::text[]
        = to_jsonb(old) - '{outcome,status,ended_at,cluster_id,infra_env_id,subject}'::text[]
    then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if current_setting('slipway.purges_audit', true) = 'yes' and old.at < now() - interval '1 day' then
      return old;
    end if;
  end if;
  raise exception 'rows of slipway.audit are kept as they were written (%)', tg_op using errcode = 'insufficient_privilege';
end $$;

create trigger keep_audit before update or delete on slipway.audit for each row execute function slipway.keep_audit();
create trigger keep_audit_whole before truncate on slipway.audit for each statement execute function slipway.keep_audit();
