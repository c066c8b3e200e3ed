update stock_requests set closed = true where day = %(day)s
returning day
