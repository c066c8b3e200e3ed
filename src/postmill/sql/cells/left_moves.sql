-- Moves that servers were asked for and that nobody is at (see lock_move).
select m.id from {schema}.tenant_move m
 where m.status = 'running' and m.via <> 'cli'
   and not exists (select from pg_locks l
                    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
                      and l.database = (select d.oid from pg_database d where d.datname = current_database())
                      and (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('{schema}.move:' || m.id, 0))
 order by m.id
