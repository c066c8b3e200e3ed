insert into ingests as i (id, tenant_id, provider_id, pictures)
select %(ingest_id)s, %(tenant_id)s, %(provider_id)s, count(*) from pictures p
 where p.ingest_id = %(ingest_id)s and p.provider_id = %(provider_id)s
having count(*) > 0
on conflict (id) do nothing
returning i.pictures
