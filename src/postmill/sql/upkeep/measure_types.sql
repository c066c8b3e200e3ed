-- Queued jobs by type, over at most 20,000 of each queue's most urgent.
select j.job_type, count(*)
  from (select r.id from {schema}.ready r limit 20000) r join {schema}.job j on j.id = r.id
 group by 1
