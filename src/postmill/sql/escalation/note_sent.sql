select {schema}.note_sent($1::text, $2::uuid[], $3::double precision)
