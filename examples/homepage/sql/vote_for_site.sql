insert into good_site_votes (site_id, visitor)
select id, %(visitor)s from good_sites where id = %(site_id)s
    on conflict (site_id, visitor) do update set visitor = excluded.visitor
returning xmax = 0 as counted
