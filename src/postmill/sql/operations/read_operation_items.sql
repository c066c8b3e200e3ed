select i.n, i.job_id, i.status, i.new_id, i.detail, i.at
  from {schema}.read_operation_items($1::uuid, $2::text, $3::integer, $4::integer) i
