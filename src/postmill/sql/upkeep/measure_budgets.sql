-- How far budgets are used up, the most first: at most 100, so that a budget for each tenant costs no more. The platform's,
-- and those of tenants that anything was reserved from in their present period.
select f.name, coalesce(t.slug, ''), f.unit, f.level, f.limit_amount::float8, f.spent::float8, f.reserved::float8
  from ((select p.budget_id from {schema}.budget_period p
          where p.ends_at > (select {schema}.now()) and p.starts_at <= (select {schema}.now()) order by p.ends_at desc limit 1000)
        union
        (select b.id from {schema}.budget b where b.tenant_id is null limit 100)) p
 cross join lateral {schema}.read_budget_figures(p.budget_id, (select {schema}.now())) f
  left join {schema}.tenant t on t.id = f.tenant_id
 order by (f.spent + f.reserved) / nullif(f.limit_amount, 0) desc nulls first, f.name limit 100
