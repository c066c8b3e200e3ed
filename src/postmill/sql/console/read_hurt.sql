select h.what, h.id, h.slug from {schema}.read_hurt($1::integer) h
