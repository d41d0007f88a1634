-- Tokens of users that are valid: a row is what a token may do, and without one the token opens nothing. The tokens themselves are
-- not kept.
create table slipway.tokens (
  id uuid primary key,
  user_name text not null,
  org_id text not null default '',
  role text not null,
  note text not null default '',
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
