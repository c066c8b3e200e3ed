-- Which of these tickets an open transaction has locked; does not wait for it.
with free as materialized (
    select r.id from {schema}.running r where r.id = any ($1::uuid[]) order by r.id for update skip locked
)
select r.id from {schema}.running r where r.id = any ($1::uuid[]) and not exists (select from free f where f.id = r.id)
