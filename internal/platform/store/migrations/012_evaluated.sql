-- Up to which mark a subject was evaluated: a reader has what is behind evaluated first.
alter table slipway.pulses add column evaluated bigint not null default 0;
update slipway.pulses set evaluated = dirty where refresh_at is null;
create index pulses_behind on slipway.pulses (subject_id) where dirty > evaluated;
