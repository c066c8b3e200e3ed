-- What the portal's seller sells: something that is for sale for a month, which an earlier run may have left; something that
-- soon is not any more; and something whose time is over.
with seller as (
    insert into marketplace_members (name, email) values ('Ada of ' || %(portal)s, 'ada@' || %(portal)s || '.example')
    on conflict (email) do update set name = excluded.name
    returning id
), wares (title, term) as (
    values ('A bicycle', interval '30 days'), ('A boat', interval '2 days'), ('A lamp', interval '-1 hour')
), there as (
    select l.id from marketplace_listings l join seller s on s.id = l.seller_id
     where l.title = 'A bicycle' and l.status = 'active'
)
insert into marketplace_listings (seller_id, title, expires_at)
select s.id, w.title, (select postmill.now()) + w.term
  from seller s, wares w where w.title <> 'A bicycle' or not exists (select from there)
returning id
