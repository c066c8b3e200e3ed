-- The symbols that are shown, each with the last quote there is of it, and the requests of each day in New York.

create table if not exists stocks (
    symbol text primary key check (symbol = upper(symbol) and symbol <> ''),
    name text not null default '',
    is_active boolean not null default true,
    price numeric(18, 4),
    change numeric(18, 4),
    change_percent numeric(10, 4),
    previous_close numeric(18, 4),
    volume bigint,
    trading_day date,
    fetched_at timestamptz,                 -- when the quote was got; null: there is none
    asked_at timestamptz,                   -- the last request for it, whatever came of it
    last_error text,
    created_at timestamptz not null default postmill.now()
);
create index if not exists stocks_turn on stocks (asked_at nulls first, symbol) where is_active;

create table if not exists stock_requests (
    day date primary key,                   -- New York's
    used integer not null check (used between 1 and 25),
    released integer not null,              -- how many may have been used by the time of the last one
    closed boolean not null default false   -- the service has said that there are no more today
);

-- Is a quote old? In market hours after five minutes, otherwise if it is from before the last close. Holidays of the exchange
-- are as other days.
create or replace view stock_prices as
select s.symbol, s.name, s.price, s.change, s.change_percent, s.previous_close, s.volume, s.trading_day, s.fetched_at,
       s.fetched_at is null or s.fetched_at < m.moved_at as stale
  from stocks s
 cross join (select postmill.now() as now, postmill.now() at time zone 'America/New_York' as local) c
 cross join lateral (select c.local::date - case when c.local::time < '16:00' then 1 else 0 end as day) d
 cross join lateral (
    select case when extract(isodow from c.local) < 6 and c.local::time between '09:30' and '16:00'
                then c.now - interval '5 minutes'
                else (d.day - greatest(extract(isodow from d.day)::integer - 5, 0) + time '16:00')
                     at time zone 'America/New_York' end as moved_at) m
 where s.is_active;
