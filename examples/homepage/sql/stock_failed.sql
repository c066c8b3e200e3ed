update stocks set last_error = %(error)s where symbol = %(symbol)s
returning symbol
