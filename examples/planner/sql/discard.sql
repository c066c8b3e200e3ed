select status from postmill.discard_jobs(array[%(id)s::uuid], %(reason)s)
