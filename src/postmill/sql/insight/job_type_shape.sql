-- What a job type takes, by its name or an alias, and how many live workers serve it in its queue.
select d.key, d.queue, d.kind, d.description, d.is_active, d.arg_schema::text as arg_schema, d.keep,
       (select count(*)::integer
          from {schema}.worker w join {schema}.lease l on l.holder = w.holder
         where l.expires_at > (select {schema}.now()) and not w.draining and d.queue = any (w.queues)
           and (d.key = any (w.job_types) or d.aliases && w.job_types)) as workers
  from {schema}.job_definition d
 where d.key = $1::text or d.aliases @> array[$1::text]
 order by d.key <> $1::text
 limit 1
