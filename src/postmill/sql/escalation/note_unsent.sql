select {schema}.note_unsent($1::text, $2::uuid[], $3::text, $4::double precision, $5::integer)
