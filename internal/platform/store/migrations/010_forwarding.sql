-- Until when a result is left to the process that forwards it, and after a failure when it is tried again. Earlier versions
-- forward without looking at it: Temporal takes a result once.
alter table slipway.pending_activities add column forward_after timestamptz;
