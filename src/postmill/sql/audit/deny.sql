-- Notes that something was denied: who asked and for what.
select {schema}.set_actor($1::text, $2::text, $3::text, $4::text, $5::text, $6::text),
       {schema}.audit($7::text, $8::text, $9::text, $10::uuid, null, $11::text::jsonb, $12::text, $13::text)
