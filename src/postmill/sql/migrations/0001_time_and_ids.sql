-- postmill: safe
-- The one source of time and of identifiers. Everything else in sql/ reads time here only.

-- The database's clock, shifted by the setting postmill.clock_offset of this connection (tests and
-- simulations). An emptied setting reads as '' and not as NULL, hence nullif. One expression, so that the
-- planner inlines it; predicates write (select {schema}.now()), or each row calls it and no index is used.
create function {schema}.now() returns timestamptz
language sql volatile parallel safe as $$
    select pg_catalog.clock_timestamp()
         + coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval
$$;

-- UUID version 7 (RFC 9562, section 5.7): ids sort by the moment of their making. PostgreSQL 18 has it built
-- in; before that 48 bits of milliseconds and 12 bits of the fraction keep the order within a millisecond.
do $do$
begin
    if current_setting('server_version_num')::int >= 180000 then
        create function {schema}.new_id() returns uuid
        language sql volatile parallel safe as $$
            select pg_catalog.uuidv7(
                coalesce(nullif(current_setting('postmill.clock_offset', true), ''), '0')::interval)
        $$;
    else
        create function {schema}.new_id() returns uuid
        language plpgsql volatile parallel safe as $$
        declare
            micros bigint := (extract(epoch from {schema}.now()) * 1000000)::bigint;
        begin
            return encode(
                substring(int8send(micros / 1000) from 3)
                || int2send((28672 + (micros % 1000) * 4096 / 1000)::int2)
                || substring(uuid_send(gen_random_uuid()) from 9), 'hex')::uuid;
        end
        $$;
    end if;
end
$do$;

-- The smallest id that could be made at that moment: turns a time range into an id range.
create function {schema}.id_at(moment timestamptz) returns uuid
language sql immutable parallel safe as $$
    select (lpad(to_hex(floor(extract(epoch from moment - timestamptz '1970-01-01 00:00+00') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The moment at which an id was made, to the millisecond.
create function {schema}.id_time(id uuid) returns timestamptz
language sql immutable parallel safe as $$
    select to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
$$;

-- The minute of a moment, whatever zone the session is in.
create function {schema}.minute_of(moment timestamptz) returns timestamptz
language sql immutable parallel safe as $$
    select date_bin('1 minute', moment, timestamptz '2000-01-01 00:00+00')
$$;
