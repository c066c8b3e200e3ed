select b.total, b.complete_to, b.width, b.bars from {schema}.read_matching_bars($1::jsonb) b
