-- A month of its own limit, the present or a coming one: changed | unchanged | over | no_period.
select postmill.door_limit_budget(b.id, %(month)s, %(cents)s::numeric / 100, 'set by the admin API', 'user', 'admin') as status
  from postmill.read_budgets(null, null, 1, p_name => 'ai-tagging') b
