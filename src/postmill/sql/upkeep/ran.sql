update {schema}.upkeep u set last_run_at = (select {schema}.now()), last_run_by = $2::text where u.name = $1::text
