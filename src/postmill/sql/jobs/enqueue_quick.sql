-- One job that says nothing but its type, payload, tenant and priority.
select {schema}.enqueue_quick($1::text, $2::text::jsonb, $3::uuid, $4::integer)
