-- What AI tagging has used, by month and provider. Costs are in cents.
create table if not exists ai_usage_tracking (
    id uuid primary key default gen_random_uuid(),
    month date not null check (month = date_trunc('month', month)),
    provider text not null default 'anthropic',
    total_requests bigint not null default 0,
    total_tokens_input bigint not null default 0,
    total_tokens_output bigint not null default 0,
    estimated_cost_cents numeric(14, 4) not null default 0,
    budget_limit_cents bigint not null default 50000,
    created_at timestamptz not null default postmill.now(),
    updated_at timestamptz not null default postmill.now(),
    unique (month, provider)
);
