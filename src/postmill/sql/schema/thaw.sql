-- The clock goes on as before the freeze.
do $do$
declare
    kept text[];
    definition text;
begin
    select c.thaw into kept from {schema}.frozen_clock c;
    foreach definition in array kept loop
        execute definition;
    end loop;
    drop function {schema}.moving_now();
    drop table {schema}.frozen_clock;
end
$do$
