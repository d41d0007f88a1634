-- The boot that a host registered last, and the one that a step was commanded for. Rows of earlier versions have none:
-- they are held to nothing.
alter table slipway.hosts add column boot text not null default '';
alter table slipway.pending_activities add column boot text;
