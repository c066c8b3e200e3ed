-- A worker and a trigger.
select md5('worker 1')::uuid, md5('trigger 0')::uuid
