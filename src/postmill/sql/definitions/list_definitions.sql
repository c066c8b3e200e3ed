-- JSON as text: drivers differ in what they make of jsonb.
select d.document::text
  from {schema}.read_definitions($1::uuid, $2::text, $3::text, $4::text, $5::boolean, $6::text, $7::integer) d
