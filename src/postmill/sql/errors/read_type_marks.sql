select m.at, m.kind, m.label, m.target from {schema}.read_type_marks($1::text, $2::timestamptz) m
