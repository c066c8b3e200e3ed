select (select count(*) from weather_forecasts f where f.place_id = any (p.ids)) as hours,
       (select count(*) from weather_warnings w where w.place_id = any (p.ids)) as warnings
  from (select array_agg(id) as ids from weather_places where starts_with(name, %(portal)s || ': ')) p
