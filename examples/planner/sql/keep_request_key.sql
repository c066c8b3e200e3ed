-- One whose time is over, and that no night has taken away yet, is taken over.
insert into planner.request_key as k (org_id, actor_id, key, job_id, about)
values (%(org)s, %(actor_id)s, %(key)s, %(job_id)s, %(about)s)
on conflict (org_id, actor_id, key) do update
   set job_id = excluded.job_id, about = excluded.about, first_seen_at = postmill.now(),
       expires_at = postmill.now() + interval '1 day'
