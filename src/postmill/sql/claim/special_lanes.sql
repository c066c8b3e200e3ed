select l.queue, l.lane, l.weight, l.job_type, r.id
  from {schema}.lane l left join {schema}.limit_rule r on r.job_type = l.job_type
 where l.queue = any ($1::text[])
