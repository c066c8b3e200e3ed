-- Changes whenever a definition is made, edited or deleted, whatever the order of the commits.
select coalesce(sum(hashtextextended(d.key, d.version)), 0)::text || ':' || count(*) from {schema}.job_definition d
