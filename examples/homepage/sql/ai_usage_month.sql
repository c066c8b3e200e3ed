select u.* from ai_usage_tracking u where u.month = (%(month)s || '-01')::date
