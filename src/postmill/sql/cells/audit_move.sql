-- In the log of the cell: what was done to which tenant. Of the platform: the tenant's own log goes with it.
select {schema}.audit($1::text, 'tenant', $2::text, null, null, $3::text::jsonb, $4::text)
