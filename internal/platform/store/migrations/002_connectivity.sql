-- Connectivity reports are packed (model.ConnectivityReport) and leave the document, which
-- is written with every answer of a host. Hosts are asked for theirs again.
alter table slipway.hosts add column connectivity bytea;
update slipway.hosts
set doc = doc - 'connectivity', facts = facts - 'connectivity-check'
where doc ? 'connectivity';
