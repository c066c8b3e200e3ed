select {schema}.door_note_error($1::text, $2::text, $3::text, $4::text)
