-- The files of a cluster are removed before its rows. From the first file on it cannot come back.
alter table slipway.clusters add column purge_begun boolean not null default false;
