-- What visitors have done at the sites of a portal since the run before: votes of the last month, and clicks of today. Of
-- clicks of a hundred days ago one for each site has not been counted yet, and is too old to be kept.
with sites as (
    select id, row_number() over (order by id) as n from good_sites where starts_with(title, %(portal)s || ': ')
), voted as (
    insert into good_site_votes (site_id, visitor, voted_at)
    select s.id, gen_random_uuid(), (select postmill.now()) - v * interval '2 days'
      from sites s, generate_series(1, 3 + 2 * s.n) v
    returning site_id
), clicked as (
    insert into clicks (site_id, visitor, consent, clicked_at)
    select s.id, gen_random_uuid(), true,
           (select postmill.now()) - case when c = 0 then interval '100 days' else c * interval '20 minutes' end
      from sites s, generate_series(0, 10 * s.n) c
    returning site_id
)
select (select count(*) from voted) as votes, (select count(*) from clicked) as clicks
