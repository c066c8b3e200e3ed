delete from planner.delivery d
 using (select x.ctid from planner.delivery x where x.expires_at <= (select postmill.now())
         order by x.expires_at limit %(most)s for update skip locked) gone
 where d.ctid = gone.ctid
