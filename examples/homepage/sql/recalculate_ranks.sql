with marks as (
    select id, extract(epoch from submitted_at - %(epoch)s::timestamptz)::float8 / %(half_life)s::float8 as place,
           1::float8 as weight
      from good_sites
    union all
    select site_id, extract(epoch from voted_at - %(epoch)s)::float8 / %(half_life)s::float8, 1 from good_site_votes
    union all
    select site_id, extract(epoch from hour - %(epoch)s)::float8 / %(half_life)s::float8, clicks * %(click_weight)s::float8
      from click_rollup
), placed as (
    select id, place, weight, max(place) over (partition by id) as latest from marks
), ranked as (
    select id, latest + ln(sum(weight * power(2::float8, place - latest))) / ln(2::float8) as rank
      from placed
     where place > latest - %(faint)s::float8
     group by id, latest
), changed as (
    -- Sums differ in their last digits with the order in which rows are read.
    update good_sites s set rank = r.rank from ranked r where s.id = r.id and abs(s.rank - r.rank) > 1e-9
    returning s.id
)
select (select count(*) from ranked) as sites, (select count(*) from changed) as changed
