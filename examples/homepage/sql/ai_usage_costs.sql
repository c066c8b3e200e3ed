-- What a month's money went to, the most first.
select c.key as name, c.amount * 100 as cost_cents, c.calls as requests, c.tokens_in as tokens_input, c.tokens_out as tokens_output
  from postmill.budget_standing('ai-tagging', null) s
 cross join lateral postmill.read_budget_breakdown(s.id, %(month)s, %(by)s, 1000) c
