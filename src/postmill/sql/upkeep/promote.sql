select queue, lane, priority, n from {schema}.promote($1::timestamptz, $2::integer, $3::integer)
