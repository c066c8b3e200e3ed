select {schema}.door_note_audit_export($1::text::jsonb)
