-- One job without a key. JSON and intervals travel as text, so that every driver takes the same arguments; an
-- interval in seconds stays exact, where one in days would follow the session's time zone.
select e.id, e.status, e.detail
  from {schema}.enqueue_one(
    $1::text, $2::text::jsonb, $3::uuid, $4::integer, $5::text::interval, $6::timestamptz, $7::uuid, $8::integer,
    $9::double precision, $10::timestamptz, $11::text, $12::text, $13::text, $14::text, $15::text, $16::text,
    $17::text, p_lane_key => $18::text) e
