select status, new_id from postmill.replay_jobs(array[%(id)s::uuid], 'user', %(actor)s, %(payload)s::jsonb)
