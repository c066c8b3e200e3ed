select status, new_id from postmill.replay_jobs(array[%(id)s::uuid], %(actor_type)s, %(actor_id)s, %(payload)s::jsonb)
