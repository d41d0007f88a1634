-- The try of its host for which a step is commanded (attempt of the host). A workflow that was begun again takes over the steps of
-- the same try. Rows of earlier versions have none: no workflow takes them over.
alter table slipway.pending_activities add column host_try int;
