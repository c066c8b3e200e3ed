-- A month of its own limit, the present or a coming one: changed | unchanged | over | no_period | unknown (there is no budget).
select postmill.limit_budget('ai-tagging', %(cents)s::numeric / 100, 'set by the admin API', p_period => %(month)s,
                             p_actor_type => 'user', p_actor_id => 'admin') as status
