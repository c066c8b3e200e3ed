select count(*) as symbols, count(*) filter (where stale) as stale, (select postmill.now()) as now,
       coalesce((select used from stock_requests
                  where day = ((select postmill.now()) at time zone 'America/New_York')::date), 0) as used,
       coalesce((select closed or used >= 25 from stock_requests
                  where day = ((select postmill.now()) at time zone 'America/New_York')::date), false) as spent
  from stock_prices
