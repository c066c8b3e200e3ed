-- What differs from the default: lanes and tenants with a weight of their own; the job types with lanes of their own, by the
-- first half of these lanes; the queues whose jobs some limit may bind; the versions that jobs are bound to, by the first
-- half of their lanes, with the code (under queue) that a worker must run to take them; and the types that some worker did not
-- know, by the first half of the lanes into which it put their jobs back.
select 'lane' as what, l.queue, l.lane, l.weight, null::text as job_type
  from {schema}.lane l
 where l.queue = any ($1::text[])
union all
select 'tenant', null, t.id, t.weight, null from {schema}.tenant t where t.weight <> 1
union all
select 'type', null, {schema}.lane_of('type', '00000000-0000-0000-0000-000000000000', d.key, '{}', null), null, d.key
  from {schema}.job_definition d
 where coalesce(d.limit_lane, d.lane) like 'type%'
union all
select 'limited', q.name, null, null, null from {schema}.queue q where q.name = any ($1::text[]) and q.limited
union all
select 'pin', p.code, p.lane, null, p.job_type from {schema}.pinned_lanes() p
union all
select 'refused', null, f.lane, null, f.job_type from {schema}.refused_type f
union all
select 'lane', l.queue, {schema}.refused_lane(f.job_type, l.lane), l.weight, null
  from {schema}.lane l cross join {schema}.refused_type f where l.queue = any ($1::text[])
