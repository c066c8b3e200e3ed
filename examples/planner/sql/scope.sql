-- For the rest of the transaction: the policies of the planner's tables ask for it.
select set_config('postmill.tenant_id', %(org)s, true)
