with old as (
    select id from clicks
     where rolled_up and clicked_at < (select postmill.now()) - %(age)s::interval
     order by clicked_at
     limit %(most)s
       for update skip locked
), deleted as (
    delete from clicks c using old where c.id = old.id returning c.id
)
select count(*) as clicks from deleted
