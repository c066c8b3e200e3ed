-- Of the demo: Pete's scan, and the end of his rights, in one commit, so that the job cannot be quicker.
with lost as (
    delete from planner.access where org_id = %(org)s and actor_id = 'pete' returning 1
)
select postmill.enqueue('planning.conflict-scan', '{"revision": 0}', tenant => %(org)s::uuid, project => %(project)s::uuid,
                        actor_type => 'user', actor_id => 'pete', request_id => 'demo', correlation_id => 'demo',
                        key => gen_random_uuid()::text)
