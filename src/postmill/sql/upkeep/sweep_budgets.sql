select {schema}.sweep_budgets($1::integer)
