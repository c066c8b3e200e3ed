select id, url, title, submitted_at, status, rank, moved_to, (select postmill.now()) as moment
  from good_sites
 where case when %(id)s::uuid is null then status = 'live' else id = %(id)s end
 order by rank desc, id
 limit %(most)s
