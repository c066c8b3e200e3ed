select pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1::bigint
