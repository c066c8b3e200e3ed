-- Who keeps vacuum from removing dead rows, oldest first: transactions (those of other databases only by an id of
-- their own), prepared transactions, replication slots. held counts the transactions begun since.
with holder as (
    select case when a.backend_type = 'walsender' then 'standby' else 'transaction' end as kind,
           coalesce('pid ' || a.pid, '?') as who, a.usename::text as role, a.datname::text as database,
           a.application_name as application, a.state, a.xact_start as since,
           greatest(age(a.backend_xmin), age(a.backend_xid)) as held, left(a.query, 120) as query
      from pg_stat_activity a
     where a.pid <> pg_backend_pid()
       and (a.backend_xid is not null
            or a.backend_xmin is not null and (a.datname = current_database() or a.backend_type = 'walsender'))
    union all
    select 'prepared transaction', p.gid, p.owner::text, p.database::text, '', 'prepared', p.prepared,
           age(p.transaction), ''
      from pg_prepared_xacts p
    union all
    select 'replication slot', s.slot_name::text, '', s.database::text, coalesce(s.plugin::text, ''),
           case when s.active then 'active' else 'inactive' end, null, age(s.xmin), ''
      from pg_replication_slots s
     where s.xmin is not null
)
select h.kind, h.who, coalesce(h.role, '') as role, coalesce(h.database, '') as database,
       coalesce(h.application, '') as application, coalesce(h.state, '') as state, h.since,
       extract(epoch from (select {schema}.now()) - h.since)::double precision as seconds, h.held::bigint as held,
       coalesce(h.query, '') as query
  from holder h
 order by h.since nulls last, h.held desc nulls last
 limit $1::integer
