-- With the hour that a notification belongs to, of what it tells or when it is wanted: within it the same words are said once.
select id, name, email, phone, device, account,
       date_trunc('hour', coalesce(%(moment)s::timestamptz, postmill.now()), 'UTC') as bucket
  from planner.collaborator where id = any(%(people)s) order by id
