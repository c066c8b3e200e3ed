-- This month, with the level that the budget is at: what is reserved counts.
select u.*, s.level, s.reserved * 100 as reserved_cents, s.starts_at, s.ends_at
  from postmill.budget_standing('ai-tagging', null) s
  join ai_usage_tracking u on u.month = (s.label || '-01')::date
