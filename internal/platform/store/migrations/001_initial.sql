create table infra_envs (
  id         uuid        primary key,
  cluster_id uuid,
  name       text        not null check (name <> ''),
  doc        jsonb       not null,
  secrets    bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index infra_envs_cluster on infra_envs (cluster_id) where deleted_at is null;

create table clusters (
  id                 uuid        primary key,
  kind               text        not null check (kind in ('Cluster', 'AddHostsCluster', 'DisconnectedCluster')),
  name               text        not null check (name <> ''),
  status             text        not null check (status in (
    'insufficient', 'ready', 'error', 'preparing-for-installation', 'pending-for-input', 'installing', 'finalizing',
    'installed', 'adding-hosts', 'cancelled', 'installing-pending-user-action', 'unmonitored')),
  status_info        text        not null,
  status_updated_at  timestamptz not null,
  install_attempt    int         not null default 0,
  workflow_started   boolean     not null default true,
  network_generation bigint      not null default 0,
  doc                jsonb       not null,
  secrets            bytea,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  deleted_at         timestamptz
);
create index clusters_unstarted on clusters (id) where not workflow_started and deleted_at is null;
alter table infra_envs add foreign key (cluster_id) references clusters (id);

create table hosts (
  infra_env_id      uuid        not null references infra_envs (id),
  id                uuid        not null,
  cluster_id        uuid        references clusters (id),
  kind              text        not null check (kind in ('Host', 'AddToExistingClusterHost')),
  status            text        not null check (status in (
    'discovering', 'known', 'disconnected', 'insufficient', 'disabled', 'preparing-for-installation', 'preparing-failed',
    'preparing-successful', 'pending-for-input', 'installing', 'installing-in-progress', 'installing-pending-user-action',
    'resetting-pending-user-action', 'installed', 'error', 'resetting', 'added-to-existing-cluster', 'cancelled', 'binding',
    'unbinding', 'unbinding-pending-user-action', 'known-unbound', 'disconnected-unbound', 'insufficient-unbound',
    'disabled-unbound', 'discovering-unbound', 'reclaiming', 'reclaiming-rebooting')),
  status_info       text        not null,
  status_updated_at timestamptz not null,
  role              text        not null check (role in ('auto-assign', 'master', 'arbiter', 'worker')),
  bootstrap         boolean     not null default false,
  dialect           text        not null check (dialect in ('install', 'fine')),
  stage             text        not null default '',
  facts             jsonb       not null default '{}',
  doc               jsonb       not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  deleted_at        timestamptz,
  primary key (infra_env_id, id)
);
create index hosts_cluster on hosts (cluster_id, created_at, id) where deleted_at is null;
create index hosts_id on hosts (id);
-- A cluster has one bootstrap host at most.
create unique index hosts_bootstrap on hosts (cluster_id) where bootstrap and deleted_at is null;

-- The row every poll may write, kept narrow so that the write stays on its page.
create table host_checkins (
  infra_env_id   uuid        not null,
  host_id        uuid        not null,
  checked_in_at  timestamptz not null,
  host_timestamp bigint      not null default 0,
  primary key (infra_env_id, host_id),
  foreign key (infra_env_id, host_id) references hosts (infra_env_id, id) on delete cascade
) with (fillfactor = 50);

-- What is to be evaluated again, and since when: a cluster, or the unbound hosts of a
-- discovery environment.
create table pulses (
  subject_id       uuid   primary key,
  kind             text   not null check (kind in ('cluster', 'infra-env')),
  hosts_generation bigint not null default 0,
  dirty            bigint not null default 0,
  refresh_at       timestamptz
) with (fillfactor = 50);
create index pulses_due on pulses (refresh_at) where refresh_at is not null;

create table instructions (
  id              text        primary key,
  kind            text        not null check (kind in ('step', 'stage', 'milestone')),
  state           text        not null check (state in ('pending', 'sent', 'reported', 'done', 'superseded')),
  cluster_id      uuid        not null references clusters (id),
  infra_env_id    uuid,
  host_id         uuid,
  type            text        not null,
  args            jsonb       not null default '[]',
  workflow_id     text        not null,
  run_id          text        not null,
  activity_id     text        not null,
  task_token      bytea       not null,
  attempt         int         not null,
  heartbeat_every bigint      not null, -- nanoseconds
  heartbeat_at    timestamptz not null,
  exit_code       int         not null default 0,
  output          text        not null default '',
  error           text        not null default '',
  created_at      timestamptz not null,
  sent_at         timestamptz,
  reported_at     timestamptz,
  done_at         timestamptz,
  unique (workflow_id, run_id, activity_id),
  foreign key (infra_env_id, host_id) references hosts (infra_env_id, id),
  check ((host_id is null) = (kind = 'milestone'))
);
create index instructions_open on instructions (infra_env_id, host_id) where state in ('pending', 'sent');
create index instructions_reported on instructions (reported_at) where state = 'reported';
create index instructions_beating on instructions (heartbeat_at) where state in ('pending', 'sent');
create index instructions_cluster on instructions (cluster_id, created_at);

create table events (
  id           bigint      generated always as identity primary key,
  name         text        not null,
  category     text        not null check (category in ('user', 'metrics')),
  severity     text        not null check (severity in ('info', 'warning', 'error', 'critical')),
  cluster_id   uuid,
  host_id      uuid,
  infra_env_id uuid,
  request_id   uuid,
  message      text        not null,
  props        jsonb,
  at           timestamptz not null
);
create index events_cluster on events (cluster_id, id);
create index events_host on events (host_id, id);
create index events_infra_env on events (infra_env_id, id);

create table manifests (
  cluster_id uuid   not null references clusters (id),
  folder     text   not null check (folder in ('manifests', 'openshift')),
  file_name  text   not null,
  source     text   not null check (source in ('user', 'system')),
  blob_key   text   not null,
  sha256     text   not null,
  size       bigint not null,
  primary key (cluster_id, folder, file_name)
);

create table monitored_operators (
  cluster_id        uuid        not null references clusters (id),
  name              text        not null,
  type              text        not null check (type in ('builtin', 'olm')),
  version           text        not null default '',
  namespace         text        not null default '',
  subscription_name text        not null default '',
  properties        text        not null default '',
  timeout_seconds   bigint      not null default 0,
  status            text        not null default '' check (status in ('', 'failed', 'progressing', 'available')),
  status_info       text        not null default '',
  status_updated_at timestamptz,
  primary key (cluster_id, name)
);
