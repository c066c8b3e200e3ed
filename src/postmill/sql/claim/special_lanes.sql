-- Lanes with a weight of their own; and the job types with lanes of their own, by the first half of these lanes, with the
-- rate limit that they are under.
select l.queue, l.lane, l.weight, null::text as job_type, null::bigint as limit_id
  from {schema}.lane l
 where l.queue = any ($1::text[])
union all
select null, {schema}.lane_of('type', '00000000-0000-0000-0000-000000000000', d.key, '{}', null), null, d.key, r.id
  from {schema}.job_definition d left join {schema}.limit_rule r on r.job_type = d.key
 where d.lane = 'type'
