select {schema}.expire_budget_limits($1::integer)
