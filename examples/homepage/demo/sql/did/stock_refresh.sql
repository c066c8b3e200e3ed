select count(price) as prices, count(*) filter (where stale) as stale
  from stock_prices
 where starts_with(name, %(portal)s || ': ')
