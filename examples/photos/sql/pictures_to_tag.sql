select p.id, p.content_hash from pictures p
 where p.tenant_id = %(tenant_id)s and (%(ingest_id)s::uuid is null or p.ingest_id = %(ingest_id)s)
 order by p.id
