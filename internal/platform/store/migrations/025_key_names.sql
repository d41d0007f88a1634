-- The name of the key that signs for an InfraEnv, which its tokens hold in clear. Each poll with a token compares it; the key itself is among
-- the secrets. Rows of before have none until they are written.
alter table slipway.infra_envs add column token_key_name text not null default '';
