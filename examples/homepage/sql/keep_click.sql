insert into clicks (site_id, visitor, consent, clicked_at)
select s.id, %(visitor)s, %(consent)s, least(coalesce(%(clicked_at)s, now.now), now.now)
  from good_sites s, (select postmill.now()) as now
 where s.id = %(site_id)s
   and (%(clicked_at)s::timestamptz is null or %(clicked_at)s > now.now - %(latest)s::interval)
returning id
