-- What is still encrypted with each key, by its id. The keys themselves are in a file outside the database.
create table slipway.encryption_keys (
  id text primary key,
  used_since timestamptz not null,
  sealed_values bigint,
  workflows bigint,
  counted_at timestamptz
);
