update weather_places set grid = %(grid)s where id = %(id)s
returning id
