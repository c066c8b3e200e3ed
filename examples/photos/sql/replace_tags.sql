-- Whole or not at all, and for pictures that are still there.
with gone as (
    delete from picture_tags t where t.picture_id = any(%(pictures)s) and t.source = %(source)s
       and not exists (select from unnest(%(tagged)s::uuid[], %(keywords)s::text[]) as n (picture_id, keyword)
                        where n.picture_id = t.picture_id and n.keyword = t.keyword)
)
insert into picture_tags (picture_id, source, keyword, score)
select n.picture_id, %(source)s, n.keyword, n.score
  from unnest(%(tagged)s::uuid[], %(keywords)s::text[], %(scores)s::float8[]) as n (picture_id, keyword, score)
  join pictures p on p.id = n.picture_id and p.tenant_id = %(tenant_id)s
on conflict (picture_id, source, keyword) do update set score = excluded.score
