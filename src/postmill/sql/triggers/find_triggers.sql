-- Triggers by their label, or by the beginning of their id.
select t.id, t.label from {schema}.job_triggers t
 where t.label = $1::text or (length($1::text) >= 4 and starts_with(t.id::text, lower($1::text)))
 order by t.label = $1::text desc, t.id limit $2::integer
