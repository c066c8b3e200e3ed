select sum(r.clicks)::bigint as clicks, count(distinct r.site_id) as sites
  from click_rollup r join good_sites s on s.id = r.site_id
 where starts_with(s.title, %(portal)s || ': ')
