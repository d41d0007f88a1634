-- The sizes of uploaded logs, which are files. Sizes of documents are read where they are.
alter table slipway.hosts add column logs_bytes bigint not null default 0;
alter table slipway.clusters add column logs_bytes bigint not null default 0;
