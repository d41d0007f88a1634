-- Fingerprints of the files that a service needs beside its database: what hosts, users and installed clusters were given depends on them.
create table slipway.identity (
  name text primary key,
  fingerprint text not null,
  recorded_at timestamptz not null
);
