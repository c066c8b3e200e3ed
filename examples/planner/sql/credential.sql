select actor_type, actor_id from planner.credential
 where token_sha256 = %(digest)s and (expires_at is null or expires_at > postmill.now())
