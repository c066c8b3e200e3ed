-- What AI tagging has used, by month and provider, in cents: a view of Postmill's budget `ai-tagging`, whose ledger is the only
-- account of it. The budget is made by the first worker with homepage.yaml.
do $$ begin
    if exists (select from pg_tables where schemaname = current_schema() and tablename = 'ai_usage_tracking') then
        drop table ai_usage_tracking;
    end if;
end $$;

-- Requests that somebody took off the count: the ledger corrects money and tokens, and counts calls for good.
create table if not exists ai_usage_requests (
    month date not null,
    provider text not null,
    taken_off bigint not null,
    at timestamptz not null default postmill.now()
);

create or replace view ai_usage_tracking as
with months as (
    select b.id, b.label, b.calls, b.tokens_in, b.tokens_out, b.spent, b.limit_amount, b.starts_at
      from postmill.read_budgets(null, null, 1, p_name => 'ai-tagging') b
    union all
    select b.id, h.label, h.calls, h.tokens_in, h.tokens_out, h.spent, h.limit_amount, h.starts_at
      from postmill.read_budgets(null, null, 1, p_name => 'ai-tagging') b
     cross join lateral postmill.read_budget_history(b.id, 1200, 1200) h
     where h.label <> b.label
)
select (m.label || '-01')::date as month,
       'anthropic'::text as provider,
       m.calls - coalesce((select sum(r.taken_off) from ai_usage_requests r
                            where r.month = (m.label || '-01')::date), 0)::bigint as total_requests,
       m.tokens_in as total_tokens_input,
       m.tokens_out as total_tokens_output,
       m.spent * 100 as estimated_cost_cents,
       m.limit_amount * 100 as budget_limit_cents,
       m.starts_at as created_at,
       coalesce((select l.at from postmill.read_budget_lines(m.id, m.label, null, 1) l), m.starts_at) as updated_at
  from months m;

-- A change of the view appends a line to the ledger that makes up the difference, and never rewrites one: what is booked at
-- the same moment stays.
create or replace function correct_ai_usage() returns trigger
language plpgsql as $$
declare
    budget uuid := (select b.id from postmill.read_budgets(null, null, 1, p_name => 'ai-tagging') b);
    label text := to_char(old.month, 'YYYY-MM');
    who text := session_user;
    told text := 'corrected';
begin
    if (new.month, new.provider) is distinct from (old.month, old.provider) then
        raise exception 'ai_usage_tracking: month and provider stay as they are';
    end if;
    if (new.estimated_cost_cents, new.total_tokens_input, new.total_tokens_output)
        is distinct from (old.estimated_cost_cents, old.total_tokens_input, old.total_tokens_output) then
        -- The present month may have no line yet; the ledger's name for it is none.
        told := (select c.status from postmill.door_correct_budget(budget,
            nullif(label, (select b.label from postmill.read_budgets(null, null, 1, p_id => budget) b)),
            (new.estimated_cost_cents - old.estimated_cost_cents) / 100, new.total_tokens_input - old.total_tokens_input,
            new.total_tokens_output - old.total_tokens_output, 'ai_usage_tracking was set by hand', 'user', who) c);
    end if;
    if told <> 'corrected' then
        raise exception 'ai_usage_tracking: % cannot be corrected (%)', label, told;
    end if;
    if new.total_requests <> old.total_requests then
        insert into ai_usage_requests (month, provider, taken_off)
        values (old.month, old.provider, old.total_requests - new.total_requests);
    end if;
    if new.budget_limit_cents <> old.budget_limit_cents then
        told := postmill.door_limit_budget(budget, label, new.budget_limit_cents / 100,
            'ai_usage_tracking was set by hand', 'user', who);
        if told not in ('changed', 'unchanged') then
            raise exception 'ai_usage_tracking: the limit of % cannot be changed (%)', label, told;
        end if;
    end if;
    return new;
end
$$;
create or replace trigger corrected instead of update on ai_usage_tracking
    for each row execute function correct_ai_usage();
