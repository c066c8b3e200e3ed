delete from pictures p where p.provider_id = %(provider_id)s and p.path_lower = any(%(paths)s)
