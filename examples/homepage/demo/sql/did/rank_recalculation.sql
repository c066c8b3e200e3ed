select count(*) filter (where s.rank <> 0) as ranked, sum(v.votes)::bigint as votes
  from good_sites s
 cross join lateral (select count(*) as votes from good_site_votes v where v.site_id = s.id) v
 where starts_with(s.title, %(portal)s || ': ')
