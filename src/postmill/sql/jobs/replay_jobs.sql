-- $4: another payload for the new jobs, as JSON text; NULL keeps the old one.
select r.id, r.status, r.new_id from {schema}.replay_jobs($1::uuid[], $2::text, $3::text, $4::text::jsonb) r
