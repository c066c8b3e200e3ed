select {schema}.door_resume_type($1::text, $2::text, $3::text)
