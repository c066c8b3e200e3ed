insert into pictures as p (tenant_id, provider_id, path_lower, name, rev, content_hash, ingest_id, seen_at)
values (%(tenant_id)s, %(provider_id)s, %(path_lower)s, %(name)s, %(rev)s, %(content_hash)s, %(ingest_id)s, now())
on conflict (provider_id, path_lower) do update
   set name = excluded.name,
       rev = excluded.rev,
       content_hash = excluded.content_hash,
       ingest_id = case when p.content_hash = excluded.content_hash then p.ingest_id else excluded.ingest_id end,
       seen_at = excluded.seen_at
