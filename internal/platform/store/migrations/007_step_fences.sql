
-- What has to hold for a step to be handed out. Rows of earlier versions have none: they are held to nothing.
alter table slipway.pending_activities add column takes text[]; -- statuses of the host
alter table slipway.pending_activities add column cluster_attempt int; -- clusters.install_attempt
alter table slipway.pending_activities add column host_attempt int; -- workflow_attempt of the host
