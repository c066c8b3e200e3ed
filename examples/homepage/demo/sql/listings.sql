-- What the portal's seller sells besides: something that soon is not for sale any more, and something whose time is over.
with seller as (
    insert into marketplace_members (name, email) values ('Ada of ' || %(portal)s, 'ada@' || %(portal)s || '.example')
    on conflict (email) do update set name = excluded.name
    returning id
)
insert into marketplace_listings (seller_id, title, expires_at)
select s.id, w.title, (select postmill.now()) + w.term
  from seller s, (values ('A boat', interval '2 days'), ('A lamp', interval '-1 hour')) w (title, term)
returning id
