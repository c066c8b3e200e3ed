insert into providers as p (tenant_id, account_id, folder, sealed_token)
values (%(tenant_id)s, %(account_id)s, %(folder)s, %(sealed_token)s)
on conflict (tenant_id, account_id) do update
   set folder = excluded.folder, sealed_token = excluded.sealed_token, connected_at = now()
returning p.id
