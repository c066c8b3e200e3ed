update stocks
   set price = %(price)s, change = %(change)s, change_percent = %(change_percent)s, previous_close = %(previous_close)s,
       volume = %(volume)s, trading_day = %(trading_day)s, fetched_at = (select postmill.now()), last_error = null
 where symbol = %(symbol)s
returning symbol
