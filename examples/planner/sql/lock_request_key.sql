-- Until the end of the transaction: a repeated request waits for the first one, and finds what it has kept.
select pg_advisory_xact_lock(hashtextextended(concat_ws(':', 'planner.request_key', %(org)s::uuid, %(actor_id)s::text, %(key)s::text), 0))
