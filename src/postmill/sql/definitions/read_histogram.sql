select h.runs, h.waits, h.run_quantiles, {schema}.rollup_bounds()
  from {schema}.read_type_histogram($1::text, $2::timestamptz) h
