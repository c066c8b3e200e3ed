insert into provider_cursors as c (provider_id, path_prefix) values (%(provider_id)s, %(path_prefix)s)
on conflict (provider_id, path_prefix) do update set path_prefix = excluded.path_prefix
returning c.cursor, c.began_at, now()
