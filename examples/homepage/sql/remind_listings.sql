with ending as materialized (
    select l.id, l.term, l.title, l.expires_at, l.seller_id
      from marketplace_listings l
     where l.status = 'active'
       and l.expires_at > (select postmill.now())
       and l.expires_at <= (select postmill.now()) + %(days)s * interval '1 day'
       and not exists (select from listing_reminders r where r.listing_id = l.id and r.term = l.term)
     order by l.expires_at
     limit %(most)s
       for update of l skip locked
), reminded as (
    insert into listing_reminders (listing_id, term)
    select id, term from ending
    on conflict do nothing
    returning listing_id
)
select e.id, e.title, e.expires_at, e.seller_id
  from ending e join reminded r on r.listing_id = e.id
