select b.total, b.complete_to, b.width, b.bars::text from {schema}.read_matching_bars($1::jsonb) b
