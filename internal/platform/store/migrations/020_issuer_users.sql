-- Who a name of an issuer of OpenID Connect belongs to: names can change there, subjects cannot.
create table slipway.issuer_users (
  issuer text not null,
  subject text not null,
  name text not null unique,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
