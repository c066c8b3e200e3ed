select r.id, r.queue, r.verdict from {schema}.door_rescue_worker($1::uuid, $2::text, $3::text, $4::text) r
