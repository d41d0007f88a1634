-- Which resource of Kubernetes defines an object; empty: none. A resource of a tenant defines one object of a kind.
alter table slipway.clusters add column kube_key_namespace text not null default '', add column kube_key_name text not null default '';
alter table slipway.infra_envs add column kube_key_namespace text not null default '', add column kube_key_name text not null default '';

create unique index clusters_kube_key on slipway.clusters
  (kube_key_namespace, kube_key_name, coalesce(doc->>'org_id', ''),
   (case when coalesce(doc->>'org_id', '') = '' then coalesce(doc->>'user_name', '') else '' end))
  where kube_key_namespace <> '' and kube_key_name <> '' and deleted_at is null;
create unique index infra_envs_kube_key on slipway.infra_envs
  (kube_key_namespace, kube_key_name, coalesce(doc->>'org_id', ''),
   (case when coalesce(doc->>'org_id', '') = '' then coalesce(doc->>'user_name', '') else '' end))
  where kube_key_namespace <> '' and kube_key_name <> '' and deleted_at is null;
