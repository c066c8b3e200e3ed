-- Moves that this cell, as the directory, has not seen the end of, and the session of whoever is at them (see lock_move).
select m.id, m.slug as tenant, m.from_cell, m.to_cell, m.step, m.status, m.via, m.note,
       extract(epoch from {schema}.now() - m.updated_at)::float as quiet_seconds,
       m.closed_at is not null and m.opened_at is null as closed,
       (select l.pid from pg_locks l
         where l.locktype = 'advisory' and l.granted and l.objsubid = 1
           and l.database = (select d.oid from pg_database d where d.datname = current_database())
           and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('{schema}.move:' || m.id, 0)) as mover
  from {schema}.tenant_move m where m.status in ('running', 'aborting') order by m.id
