-- Only pictures of the list's own tenant.
insert into list_items (list_id, picture_id, keywords)
select l.id, p.id, %(keywords)s::text[] from lists l join pictures p on p.tenant_id = l.tenant_id
 where l.id = %(list_id)s and p.id = %(picture_id)s
