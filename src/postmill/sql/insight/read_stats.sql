-- What happened since $1, or in the $3 seconds before $2 (default: now). $4 seconds of a bucket, $5 by what, $6 tenant, $7 queue,
-- $8 job type, $9 the lengths of time that are asked for.
select s.bucket, s.name, s.counts::text, s.waits, s.runs, s.totals
  from (select coalesce($2::timestamptz, {schema}.now()) as until) m
 cross join lateral {schema}.read_stats(coalesce($1::timestamptz, m.until - $3::float8 * interval '1 second'), m.until, $4::float8,
       $5::text, $6::uuid, $7::text, $8::text, $9::text[]) s
