select id, name, description, categories, city, 'words' as found_by, ts_rank_cd(keywords, q)::float8 as score
  from yellow_book_entry, websearch_to_tsquery('english', %(words)s) q
 where keywords @@ q
 order by score desc, id limit %(most)s
