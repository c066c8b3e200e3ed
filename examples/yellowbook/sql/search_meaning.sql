-- The nearest embeddings, and beside them the entries without one that have the words: reciprocal ranks are added up. An entry
-- whose embedding is missing is found by its words as before.
with nearest as (
    select id, row_number() over (order by distance) as place
      from (select id, embedding <=> %(vector)s::vector as distance from yellow_book_entry
             where embedding is not null order by embedding <=> %(vector)s::vector limit %(most)s) n
), worded as (
    select id, row_number() over (order by ts_rank_cd(keywords, q) desc, id) as place
      from yellow_book_entry, websearch_to_tsquery('english', %(words)s) q
     where embedding is null and keywords @@ q
     order by place limit %(most)s
)
select e.id, e.name, e.description, e.categories, e.city, f.found_by, f.score::float8
  from (select id, 'meaning' as found_by, 1.0 / (60 + place) as score from nearest
        union all
        select id, 'words', 1.0 / (60 + place) from worded) f
  join yellow_book_entry e on e.id = f.id
 order by f.score desc, f.found_by, e.id limit %(most)s
