select r.id, r.status, r.new_id from {schema}.door_replay_jobs($1::uuid[], $2::text::jsonb, $3::text, $4::text) r
