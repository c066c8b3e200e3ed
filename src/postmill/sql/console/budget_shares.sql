select b.tenant_id, b.name, b.share from {schema}.read_budget_shares($1::uuid[]) b
