select (error ->> 'status')::integer as status, reason, count(*) as count
  from dlq_entry group by 1, 2 order by count desc, 1, 2
