select p.id, p.name, p.content_hash,
       coalesce(array_agg(t.keyword order by t.score desc) filter (where t.source = 'trained'), '{}') as trained,
       coalesce(array_agg(t.keyword order by t.score desc) filter (where t.source = 'zeroshot'), '{}') as zeroshot,
       exists (select from list_items i where i.picture_id = p.id) as learned_from
  from pictures p left join picture_tags t on t.picture_id = p.id
 where p.tenant_id = %(tenant_id)s
 group by p.id order by p.name
