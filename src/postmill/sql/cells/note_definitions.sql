-- The keys of the other side's definitions, for this transaction.
select {schema}.note_definitions($1::uuid[], $2::text[])
