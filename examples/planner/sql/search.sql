select m.id, m.title, m.starts_at from planner.search_entry s join planner.mission m on m.id = s.mission_id
 where m.project_id = %(project)s and s.words @@ plainto_tsquery('simple', %(q)s) order by m.starts_at, m.id limit 50
