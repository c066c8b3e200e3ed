select s.id, s.url, s.title, s.submitted_at, s.status, s.rank, s.moved_to, p.url as preview, (select postmill.now()) as moment
  from good_sites s
  left join site_previews p on p.site_id = s.id
 where case when %(id)s::uuid is null then s.status = 'live' else s.id = %(id)s end
 order by s.rank desc, s.id
 limit %(most)s
