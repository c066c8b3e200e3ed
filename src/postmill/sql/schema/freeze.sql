-- Stops the clock of a test's database: now() answers what the table says, and ids follow it, still in the order of their
-- making. The functions are replaced in place, so that views and defaults that hold them follow. Never for production.
do $do$
declare
    real_now text := pg_get_functiondef('{schema}.now()'::regprocedure);
    real_id text := pg_get_functiondef('{schema}.new_id()'::regprocedure);
begin
    create table {schema}.frozen_clock (at timestamptz not null, since timestamptz not null, thaw text[] not null);
    grant select on {schema}.frozen_clock to public;
    insert into {schema}.frozen_clock values ({schema}.now(), {schema}.now(), array[real_now, real_id]);
    execute replace(real_now, '{schema}.now()', '{schema}.moving_now()');
    if current_setting('server_version_num')::int >= 180000 then
        create or replace function {schema}.new_id() returns uuid language sql volatile parallel safe as
            'select pg_catalog.uuidv7((select c.at - c.since from {schema}.frozen_clock c))';
    else
        execute replace(real_id, '{schema}.now()',
                        '({schema}.moving_now() + (select c.at - c.since from {schema}.frozen_clock c))');
    end if;
    create or replace function {schema}.now() returns timestamptz language sql volatile parallel safe as
        'select c.at from {schema}.frozen_clock c';
end
$do$
