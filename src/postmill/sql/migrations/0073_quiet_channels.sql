-- postmill: safe
-- A channel for which nothing waits is none that somebody has to look at: `greatest` passes over NULL, so that from a channel's
-- first message on there was always something to do, and a whole round of escalation was made every second.

create or replace function {schema}.next_escalation(p_channels text[]) returns double precision
language plpgsql volatile as $$
declare
    moment timestamptz := {schema}.now();
begin
    if exists (select from {schema}.dead_news) or exists (
        select from {schema}.notification n where n.status = 'pending' and n.due_at is null)
    then
        return 0;
    end if;
    return extract(epoch from least((select min(i.escalate_at) from {schema}.incident i where i.escalate_at is not null),
        (select min(greatest(d.due_at, case when s.failing_since is null then s.next_at end))
           from unnest(p_channels) as c(name)
          cross join lateral (select min(n.due_at) as due_at from {schema}.notification n
                               where n.channel = c.name and n.status = 'pending') d
           left join {schema}.channel_state s on s.channel = c.name
          where d.due_at is not null)) - moment)::double precision;
end
$$;
