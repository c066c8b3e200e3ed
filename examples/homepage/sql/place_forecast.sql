-- The hours of one place: those that are there are changed where they differ, those that are over go.
with over as (
    delete from weather_forecasts
     where place_id = %(id)s and starts_at <= (select postmill.now()) - interval '1 hour'
), kept as (
    insert into weather_forecasts as f (place_id, starts_at, temperature_c, wind_kmh, precipitation_percent, summary)
    select %(id)s, h.starts_at, h.temperature_c, h.wind_kmh, h.precipitation_percent, h.summary
      from jsonb_to_recordset(%(hours)s) as h(starts_at timestamptz, temperature_c numeric(5, 1), wind_kmh numeric(5, 1),
                                              precipitation_percent smallint, summary text)
     where h.starts_at > (select postmill.now()) - interval '1 hour'
    on conflict (place_id, starts_at) do update
       set temperature_c = excluded.temperature_c, wind_kmh = excluded.wind_kmh,
           precipitation_percent = excluded.precipitation_percent, summary = excluded.summary,
           updated_at = (select postmill.now())
     where (f.temperature_c, f.wind_kmh, f.precipitation_percent, f.summary)
           is distinct from (excluded.temperature_c, excluded.wind_kmh, excluded.precipitation_percent, excluded.summary)
    returning f.starts_at
), place as (
    update weather_places set forecast_at = (select postmill.now()), forecast_error = null where id = %(id)s
)
select count(*) as changed from kept
