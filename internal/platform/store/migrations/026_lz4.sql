-- Documents are written with each change and read with each evaluation: lz4 needs a fraction of the time of pglz, and an eighth more room.
-- A PostgreSQL that was built without it keeps pglz.
do $$
begin
  alter table slipway.hosts alter column doc set compression lz4, alter column facts set compression lz4;
  alter table slipway.clusters alter column doc set compression lz4;
exception when feature_not_supported then
  raise notice 'this PostgreSQL has no lz4, documents stay compressed with pglz';
end $$;
