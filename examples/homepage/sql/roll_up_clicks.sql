with waiting as (
    select id from clicks where not rolled_up order by id limit %(most)s for update skip locked
), marked as (
    update clicks c set rolled_up = true from waiting w where c.id = w.id
    returning c.site_id, date_trunc('hour', c.clicked_at, 'UTC') as hour
), counted as (
    insert into click_rollup (site_id, hour, clicks)
    select site_id, hour, count(*) from marked group by site_id, hour order by site_id, hour
        on conflict (site_id, hour) do update set clicks = click_rollup.clicks + excluded.clicks
)
select count(*) as clicks from marked
