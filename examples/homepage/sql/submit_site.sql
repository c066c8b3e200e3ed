with submitted as (
    insert into good_sites (url, host, title, rank)
    values (%(url)s, %(host)s, %(title)s,
            extract(epoch from (select postmill.now()) - %(epoch)s::timestamptz)::float8 / %(half_life)s::float8)
    on conflict (url) do nothing
    returning id
)
select id, true as made from submitted
union all
select id, false from good_sites where url = %(url)s
