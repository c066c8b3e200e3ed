select count(*) filter (where fetched_at >= %(since)s) as quotes, count(*) filter (where stale) as stale
  from stock_prices
 where starts_with(name, %(portal)s || ': ')
