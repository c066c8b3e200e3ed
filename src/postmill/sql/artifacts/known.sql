-- Which of these artifacts have a row.
select a.id from {schema}.artifact a where a.id = any ($1::uuid[])
