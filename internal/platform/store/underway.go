package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// UnderWay is a cluster or host that some workflow has to be working on.
type UnderWay struct {
	ClusterID uuid.UUID // that a reclaimed host was in
	Host      HostKey   // zero for the cluster itself
	Attempt   int       // of the cluster, or of a host alone
	Task      Task
}

// Task is the work that a workflow has to be doing with a cluster or host.
type Task string

// The tasks that have workflows of their own.
const (
	TaskInstall     Task = "install"      // a cluster
	TaskInstallHost Task = "install host" // a host of it
	TaskDone        Task = "done host"    // of it, that is installed: it has said so to the workflow of its cluster
	TaskAdd         Task = "add"          // a host into an existing cluster
	TaskReclaim     Task = "reclaim"      // a host, from its cluster
	TaskReset       Task = "reset"        // a cluster
	TaskResetHost   Task = "reset host"   // of an existing cluster
	TaskControl     Task = "control"      // commands for a cluster that was installed, or was to be
)

// underWay finds what workflows were started for and have not ended, by the statuses that they leave behind. A host that has joined
// an existing cluster and boots the discovery image waits for its user with stage Done: its workflow has ended.
const underWay = `
	with c as (
	  select id, install_attempt from clusters
	  where deleted_at is null and workflow_started
	    and (status in ('preparing-for-installation', 'installing', 'installing-pending-user-action', 'finalizing')
	      or coalesce((doc->>'decision_open')::boolean, false))
	), h as (
	  select infra_env_id, id, cluster_id, kind, status, coalesce((doc->>'workflow_attempt')::int, 0) as attempt,
	    status in ('installing', 'installing-in-progress', 'installing-pending-user-action')
	      or status = 'error' and coalesce((doc->>'decision_open')::boolean, false) as installs,
	    (doc->>'former_cluster_id')::uuid as former
	  from hosts
	  where deleted_at is null and not doc ? 'pending_workflow'
	    and not (kind = 'AddToExistingClusterHost' and status = 'installing-pending-user-action' and stage = 'Done')
	    and status in (
	    'installing', 'installing-in-progress', 'installing-pending-user-action', 'error', 'reclaiming', 'reclaiming-rebooting', 'resetting')
	)
	select id, '00000000-0000-0000-0000-000000000000'::uuid, '00000000-0000-0000-0000-000000000000'::uuid, install_attempt, 'install' from c
	union all
	select c.id, h.infra_env_id, h.id, c.install_attempt, 'install host'
	from h join c on c.id = h.cluster_id
	where installs and h.kind = 'Host'
	union all
	select c.id, h.infra_env_id, h.id, c.install_attempt, 'done host'
	from hosts h join c on c.id = h.cluster_id
	where h.deleted_at is null and h.status = 'installed' and h.kind = 'Host'
	union all
	select cluster_id, infra_env_id, id, attempt, 'add' from h
	where installs and kind = 'AddToExistingClusterHost' and attempt > 0 and cluster_id is not null
	union all
	select former, infra_env_id, id, attempt, 'reclaim' from h where status in ('reclaiming', 'reclaiming-rebooting') and former is not null
	union all
	select distinct h.cluster_id, '00000000-0000-0000-0000-000000000000'::uuid, '00000000-0000-0000-0000-000000000000'::uuid,
	  k.install_attempt, 'reset'
	from h join clusters k on k.id = h.cluster_id and k.deleted_at is null
	where h.status = 'resetting' and h.kind = 'Host'
	union all
	select cluster_id, infra_env_id, id, attempt, 'reset host' from h
	where status = 'resetting' and kind = 'AddToExistingClusterHost' and cluster_id is not null
	union all
	select id, '00000000-0000-0000-0000-000000000000'::uuid, '00000000-0000-0000-0000-000000000000'::uuid, 0, 'control'
	from clusters where deleted_at is null and install_attempt > 0`

// WhatIsUnderWay lists all clusters and hosts that some workflow has to be working on.
func (s *Store) WhatIsUnderWay(ctx context.Context) ([]UnderWay, error) {
	rows, err := s.pool.Query(ctx, underWay)
	if err != nil {
		return nil, fmt.Errorf("list what is under way: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (UnderWay, error) {
		var u UnderWay
		return u, row.Scan(&u.ClusterID, &u.Host.InfraEnvID, &u.Host.HostID, &u.Attempt, &u.Task)
	})
}
