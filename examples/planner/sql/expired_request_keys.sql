delete from planner.request_key k
 using (select x.ctid from planner.request_key x where x.expires_at <= (select postmill.now())
         order by x.expires_at limit %(most)s for update skip locked) gone
 where k.ctid = gone.ctid
