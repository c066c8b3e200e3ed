-- Somebody asks about a listing: one of five who do.
with buyer as (
    insert into marketplace_members (name, email)
    values ('Bob of ' || %(portal)s, 'bob' || %(number)s %% 5 || '@' || %(portal)s || '.example')
    on conflict (email) do update set name = excluded.name
    returning id
), conversation as (
    insert into conversations (listing_id, buyer_id)
    select %(listing)s::uuid, b.id from buyer b
    on conflict (listing_id, buyer_id) do update set buyer_id = excluded.buyer_id
    returning id
)
insert into mail_messages (conversation_id, sender, recipient_id, kind, subject, body)
select c.id, 'buyer', l.seller_id, 'inquiry', 'Is it still for sale?', 'I ask for the ' || %(number)s::text || '. time.'
  from conversation c, marketplace_listings l where l.id = %(listing)s::uuid
returning id::text
