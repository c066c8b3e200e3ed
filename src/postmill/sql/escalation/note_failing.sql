select {schema}.note_failing($1::text, $2::text)
