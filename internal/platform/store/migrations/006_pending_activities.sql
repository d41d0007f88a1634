-- What waits for an outside result is a pending activity: an instruction is a step of the v2 API.
alter table slipway.instructions rename to pending_activities;
alter index slipway.instructions_pkey rename to pending_activities_pkey;
alter index slipway.instructions_workflow_id_run_id_activity_id_key rename to pending_activities_workflow_id_run_id_activity_id_key;
alter index slipway.instructions_open rename to pending_activities_open;
alter index slipway.instructions_reported rename to pending_activities_reported;
alter index slipway.instructions_beating rename to pending_activities_beating;
alter index slipway.instructions_cluster rename to pending_activities_cluster;
alter table slipway.pending_activities rename constraint instructions_kind_check to pending_activities_kind_check;
alter table slipway.pending_activities rename constraint instructions_state_check to pending_activities_state_check;
alter table slipway.pending_activities rename constraint instructions_check to pending_activities_check;
alter table slipway.pending_activities rename constraint instructions_cluster_id_fkey to pending_activities_cluster_id_fkey;
alter table slipway.pending_activities rename constraint instructions_infra_env_id_host_id_fkey to pending_activities_infra_env_id_host_id_fkey;
