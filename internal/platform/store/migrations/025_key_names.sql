-- The name of the key that signs for an InfraEnv, which its tokens hold in clear. Each poll with a token compares it; the key itself is among
-- the secrets. A row without it gets it when it is read.
alter table slipway.infra_envs add column token_key_name text not null default '';

-- Whoever replaces the secrets and not the name leaves none: a program of an earlier version, which may have replaced the key.
create function slipway.forget_key_name() returns trigger language plpgsql as $$
begin
  new.token_key_name := '';
  return new;
end $$;
create trigger forget_key_name before update of secrets on slipway.infra_envs for each row
  when (old.secrets is distinct from new.secrets and old.token_key_name = new.token_key_name)
  execute function slipway.forget_key_name();
