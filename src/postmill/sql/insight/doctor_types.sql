-- Active job types that no live worker serves, and whether any of the first thousand waiting jobs of their queue is
-- of that type (more would be dear, and one is enough to say so).
with live as materialized (
    select w.job_types
      from {schema}.worker w join {schema}.lease l on l.holder = w.holder
     where l.expires_at > (select {schema}.now())
), unserved as materialized (
    select d.key, d.queue
      from {schema}.job_definition d
     where d.is_active and d.kind = 'function'
       and not exists (select from live v where d.key = any (v.job_types) or d.aliases && v.job_types)
)
select u.key as job_type, u.queue,
       (select count(*)::integer
          from (select r.id from {schema}.ready r where r.queue = u.queue limit 1000) r
          join {schema}.job j on j.id = r.id
         where j.job_type = u.key) as waiting,
       (select count(*)::integer from live) as workers
  from unserved u
 order by waiting desc, u.key
