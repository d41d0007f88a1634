-- Rows of kind "status" wait until their host, or without one their cluster, has reached or left some statuses.
alter table slipway.pending_activities
  add column awaited text[],
  drop constraint pending_activities_kind_check,
  add constraint pending_activities_kind_check check (kind in ('step', 'stage', 'milestone', 'status')),
  drop constraint pending_activities_check,
  add constraint pending_activities_check check (
    case kind when 'milestone' then host_id is null when 'status' then awaited is not null else host_id is not null end);
