select id, updated_at from good_sites where status = 'live' order by submitted_at, id
