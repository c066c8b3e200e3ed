-- A whole listing has ended: what it did not show is gone.
delete from pictures p
 where p.provider_id = %(provider_id)s and starts_with(p.path_lower, %(path_prefix)s || '/') and p.seen_at < %(began_at)s
