select {schema}.door_note_export($1::text, $2::text, $3::text, $4::integer)
