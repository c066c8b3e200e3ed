update weather_places
   set forecast_error = case when %(kind)s = 'forecast' then %(error)s else forecast_error end,
       alerts_error = case when %(kind)s = 'alerts' then %(error)s else alerts_error end
 where id = %(id)s
returning id
