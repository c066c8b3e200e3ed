-- changed | unchanged (it had that priority) | running | finished | contended (try again) | unknown
select p.status
  from postmill.door_prioritize_jobs(array[%(id)s::uuid], %(priority)s, %(reason)s, 'user', 'admin') p
