-- $2 jobs through the front door without a client: type, payload, number of lanes, delay (NULL: due now), first number.
select count(*)
  from {schema}.enqueue_many(
    array_fill($1::text, array[$2::integer]), array_fill($3::text::jsonb, array[$2::integer]),
    case when $4::integer > 1 then
        array(select md5('lane ' || g % $4::integer)::uuid from generate_series($6::integer, $6::integer + $2::integer - 1) g)
    end,
    p_delays => case when $5::text is not null then array_fill($5::text::interval, array[$2::integer]) end) e
 where e.status = 'created'
