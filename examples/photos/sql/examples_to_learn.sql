select p.content_hash, array_agg(distinct k.keyword) filter (where k.keyword is not null)
  from list_items i
  join lists l on l.id = i.list_id
  join pictures p on p.id = i.picture_id
  left join lateral unnest(i.keywords) as k (keyword) on true
 where l.tenant_id = %(tenant_id)s and p.tenant_id = %(tenant_id)s
 group by p.content_hash
 order by p.content_hash
