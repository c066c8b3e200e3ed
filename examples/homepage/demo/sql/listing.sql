-- A listing of the portal's seller; the one that is there, from the second time on. It ends after a month.
with seller as (
    insert into marketplace_members (name, email) values ('Ada of ' || %(portal)s, 'ada@' || %(portal)s || '.example')
    on conflict (email) do update set name = excluded.name
    returning id
), there as (
    select l.id from marketplace_listings l join seller s on s.id = l.seller_id
     where l.status = 'active' order by l.expires_at desc, l.id limit 1
), made as (
    insert into marketplace_listings (seller_id, title, expires_at)
    select s.id, 'A bicycle', (select postmill.now()) + interval '30 days' from seller s where not exists (select from there)
    returning id
)
select id::text from there union all select id::text from made
