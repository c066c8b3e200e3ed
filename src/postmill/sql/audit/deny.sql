-- Notes that something was denied: who asked and for what.
select {schema}.set_actor($1::text, $2::text, $3::text, $4::text, $5::text),
       {schema}.audit($6::text, $7::text, $8::text, $9::uuid, null, $10::text::jsonb, $11::text, $12::text)
