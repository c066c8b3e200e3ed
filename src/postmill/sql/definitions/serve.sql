-- What a worker session serves by now.
update {schema}.worker w
   set queues = $2::text[], slots = $3::text::jsonb, job_types = $4::text[], metadata = w.metadata || $5::text::jsonb
 where w.holder = $1::uuid
