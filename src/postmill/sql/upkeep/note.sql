update {schema}.upkeep u set note = $2::text::jsonb, last_run_at = (select {schema}.now())
 where u.name = $1::text
