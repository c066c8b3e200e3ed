select extract(epoch from %(moment)s::timestamptz - postmill.now())::float8 as seconds
