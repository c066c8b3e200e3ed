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
with present as (select b.* from postmill.budget_standing('ai-tagging', null) b),
months as (
    select p.id, p.label, p.calls, p.tokens_in, p.tokens_out, p.spent, p.limit_amount, p.starts_at from present p
    union all
    select p.id, h.label, h.calls, h.tokens_in, h.tokens_out, h.spent, h.limit_amount, h.starts_at
      from present p cross join lateral postmill.read_budget_history(p.id, 1200, 1200) h
     where h.label <> p.label
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
    label text := to_char(old.month, 'YYYY-MM');
    who text := session_user;
    why text := 'ai_usage_tracking was set by hand';
    told text := 'corrected';
begin
    if (new.month, new.provider) is distinct from (old.month, old.provider) then
        raise exception 'ai_usage_tracking: month and provider stay as they are';
    end if;
    if (new.estimated_cost_cents, new.total_tokens_input, new.total_tokens_output)
        is distinct from (old.estimated_cost_cents, old.total_tokens_input, old.total_tokens_output) then
        told := postmill.correct_budget('ai-tagging', (new.estimated_cost_cents - old.estimated_cost_cents) / 100, why,
            p_period => label, p_tokens_in => new.total_tokens_input - old.total_tokens_input,
            p_tokens_out => new.total_tokens_output - old.total_tokens_output, p_actor_type => 'user', p_actor_id => who);
    end if;
    if told <> 'corrected' then
        raise exception 'ai_usage_tracking: % cannot be corrected (%)', label, told;
    end if;
    if new.total_requests <> old.total_requests then
        insert into ai_usage_requests (month, provider, taken_off)
        values (old.month, old.provider, old.total_requests - new.total_requests);
    end if;
    if new.budget_limit_cents <> old.budget_limit_cents then
        told := postmill.limit_budget('ai-tagging', new.budget_limit_cents / 100, why, p_period => label,
            p_actor_type => 'user', p_actor_id => who);
        if told not in ('changed', 'unchanged') then
            raise exception 'ai_usage_tracking: the limit of % cannot be changed (%)', label, told;
        end if;
    end if;
    return new;
end
$$;
create or replace trigger corrected instead of update on ai_usage_tracking
    for each row execute function correct_ai_usage();
