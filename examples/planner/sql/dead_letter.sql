select job_id from planner.deadletter where job_id = %(job)s
