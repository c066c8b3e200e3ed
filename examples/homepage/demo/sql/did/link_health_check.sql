select count(*) as sites, count(*) filter (where status = 'dead') as dead
  from good_sites
 where starts_with(title, %(portal)s || ': ') and last_checked_at >= %(since)s
