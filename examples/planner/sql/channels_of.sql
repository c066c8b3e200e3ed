-- With the hour that a notification belongs to, now or when it is wanted: within it the same words are said once.
select id, name, email, phone, device, account,
       date_trunc('hour', greatest(coalesce(%(moment)s::timestamptz, postmill.now()), postmill.now()), 'UTC') as bucket
  from planner.collaborator where id = any(%(people)s) order by id
