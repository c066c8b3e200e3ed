-- What is sealed of these rows, as text that is the same on every server and in every session.
select l.id, {schema}.read_sealed(l.*) from {schema}.audit_log l where l.id = any ($1::uuid[])
