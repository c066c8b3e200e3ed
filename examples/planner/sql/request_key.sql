select job_id, about from planner.request_key
 where org_id = %(org)s and actor_id = %(actor_id)s and key = %(key)s and expires_at > (select postmill.now())
