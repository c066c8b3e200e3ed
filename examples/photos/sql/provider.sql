select p.id, p.folder, p.sealed_token from providers p
 where p.tenant_id = %(tenant_id)s and (%(provider_id)s::uuid is null or p.id = %(provider_id)s)
 order by p.connected_at, p.id
