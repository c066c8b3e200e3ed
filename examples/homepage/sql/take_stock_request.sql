-- One of the day's requests, if one is free by now. They are released over the day, so that they last: at weekends evenly; on
-- other days one at midnight, 22 from the opening to the close, and two in the evening. In haste (a further attempt of a job
-- whose request has failed) it may be one that is meant for later. Two at one moment meet at the day's row.
with clock as (
    select (select postmill.now()) at time zone 'America/New_York' as local
), minutes as (
    select local, extract(hour from local) * 60 + extract(minute from local) as m from clock
), budget as (
    select local::date as day,
           case when extract(isodow from local) > 5 then 1 + floor(25 * m / 1440)
                when m < 570 then 1
                when m < 960 then 2 + floor(21 * (m - 570) / 390)
                else 23 + least(2, floor(3 * (m - 960) / 480)) end::integer as released
      from minutes
)
insert into stock_requests as r (day, used, released)
select day, 1, released from budget
on conflict (day) do update
   set used = r.used + 1, released = excluded.released
 where not r.closed
   and r.used < case when %(haste)s then 25 else excluded.released end
returning day, used
