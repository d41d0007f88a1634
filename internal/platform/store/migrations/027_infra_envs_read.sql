-- The newest change of any InfraEnv is the version of a list of InfraEnvs.
create index changes_of_infra_envs on slipway.changes (n) where kind = 'infra-env';
