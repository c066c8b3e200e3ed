-- What a month's money went to, the most first.
select b.key, b.amount * 100 as cents, b.calls, b.tokens_in, b.tokens_out
  from postmill.budget_standing('ai-tagging', null) s
 cross join lateral postmill.read_budget_breakdown(s.id, %(month)s, %(by)s, 100) b
