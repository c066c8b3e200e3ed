-- One's own listing, renewed unless it is sold or removed, or has a whole term left. No row: it is nobody's, or another's.
with mine as (
    select id, status, term, expires_at from marketplace_listings
     where id = %(id)s and seller_id = %(seller_id)s
       for update
), renewed as (
    update marketplace_listings l
       set status = 'active',
           term = l.term + 1,
           expires_at = greatest(l.expires_at, (select postmill.now())) + %(days)s * interval '1 day',
           expired_at = null,
           updated_at = (select postmill.now())
      from mine m
     where l.id = m.id and m.status in ('active', 'expired')
       and m.expires_at <= (select postmill.now()) + %(days)s * interval '1 day'
    returning l.id, l.status, l.term, l.expires_at
)
select r.id is not null as renewed, coalesce(r.status, m.status) as status, coalesce(r.term, m.term) as term,
       coalesce(r.expires_at, m.expires_at) as expires_at
  from mine m left join renewed r on true
