select a.outcome, a.status, a.content_type, a.location, a.body from {schema}.door_recall_answer($1::text, $2::bytea) a
