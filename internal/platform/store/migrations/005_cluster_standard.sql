-- What hardware is judged by, read with every inventory: beside the document, which grows
-- with the number of hosts.
alter table slipway.clusters
  add column openshift_version   text not null generated always as (coalesce(doc->>'openshift_version', '')) stored,
  add column control_plane_count int  not null generated always as (coalesce((doc->>'control_plane_count')::int, 0)) stored;
