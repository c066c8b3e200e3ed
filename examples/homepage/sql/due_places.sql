-- A place is due when half the cadence is over since its last success: so a further attempt asks for those that have failed.
select id, name, latitude::text, longitude::text, provider, grid
  from weather_places
 where is_active
   and case when %(kind)s = 'alerts' then provider = 'nws' else true end
   and coalesce(case when %(kind)s = 'alerts' then alerts_at else forecast_at end, '-infinity')
       <= (select postmill.now()) - case when %(kind)s = 'alerts' then interval '7 minutes 30 seconds'
                                         else interval '30 minutes' end
 order by id
