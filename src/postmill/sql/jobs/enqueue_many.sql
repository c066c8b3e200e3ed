-- Jobs by arrays, one element a job; an array that nobody uses is NULL. The answers come in no order: n is the position.
select e.n, e.id, e.status, e.detail
  from {schema}.enqueue_many(
    $1::text[], $2::text[]::jsonb[], $3::uuid[], $4::text[], $5::text[], $6::text[]::interval[], $7::integer[],
    $8::text[]::interval[], $9::timestamptz[], $10::uuid[], $11::integer[], $12::double precision[],
    $13::timestamptz[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
    $21::text::interval, p_lane_keys => $22::text[], p_tags => $23::text[]::jsonb[]) e
