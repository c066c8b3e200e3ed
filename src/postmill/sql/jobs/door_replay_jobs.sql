select r.id, r.status, r.new_id
  from {schema}.door_replay_jobs($1::uuid[], $2::text::jsonb, $3::boolean, $4::boolean, $5::text, $6::text, $7::boolean,
                                 $8::integer, $9::text::jsonb, $10::boolean) r
