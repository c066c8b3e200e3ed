select h.runs, h.waits, h.run_quantiles, h.bounds
  from {schema}.read_type_histogram($1::text, $2::timestamptz) h
