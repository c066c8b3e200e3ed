-- Places of one portal. Those of an earlier run are due again: the weather of this one is another.
with named as (
    select %(portal)s || ': ' || p.name as name, p.latitude, p.longitude, p.country
      from jsonb_to_recordset(%(places)s) as p(name text, latitude numeric, longitude numeric, country text)
), again as (
    update weather_places w set forecast_at = null, alerts_at = null from named n where w.name = n.name
    returning w.name
), made as (
    insert into weather_places (name, latitude, longitude, country)
    select n.* from named n where not exists (select from weather_places w where w.name = n.name)
    returning name
)
select name from again union all select name from made
