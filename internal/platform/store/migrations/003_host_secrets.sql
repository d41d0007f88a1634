-- Fencing credentials and tokens of hosts, sealed; most hosts have none.
alter table slipway.hosts add column secrets bytea;
