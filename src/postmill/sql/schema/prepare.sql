-- The schema and the record of what was applied to it. Run under the lock only: IF NOT EXISTS alone races.
create schema if not exists {schema};
create table if not exists {schema}.migration (
    version    integer primary key,
    name       text not null collate "C",
    breaking   boolean not null,
    checksum   text not null collate "C",
    applied_at timestamptz not null
)
