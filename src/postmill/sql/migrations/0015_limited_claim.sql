-- postmill: safe
-- The claim of a worker that serves lanes with a rate: same answer as claim, but the tokens are decided first.

-- Lock every limit that the asked lanes are under, in the order of their ids and without waiting; in the next
-- statement read its theoretical arrival time (one statement for both overshot: a lock does not refresh the
-- snapshot); claim no more than the free tokens; append what was taken. p_limits names each lane's limit, NULL for
-- none. answer tells why lanes gave nothing: at_cap (wait_seconds until the next token) or contended (try again in
-- milliseconds; never sleep on it). The commit stays synchronous: a lost claim would give tokens back.
create function {schema}.grant_tokens(p_limits bigint[])
returns table (limit_id bigint, granted integer, wait_seconds double precision, contended boolean)
language plpgsql volatile as $$
declare
    rule {schema}.limit_rule;
    moment timestamptz;
    arrival timestamptz;
    spacing double precision;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'postmill: claims under limits need READ COMMITTED';
    end if;
    for limit_id in select distinct u.id from unnest(p_limits) as u(id) where u.id is not null order by 1 loop
        granted := 0; wait_seconds := 0; contended := false;
        select l.* into rule from {schema}.limit_rule l where l.id = grant_tokens.limit_id for update skip locked;
        if not found then
            contended := true;
        else
            moment := {schema}.now();
            spacing := rule.rate_seconds / rule.rate_count;
            select t.tat into arrival from {schema}.rate_take t
             where t.limit_id = rule.id order by t.seq desc limit 1;
            arrival := greatest(coalesce(arrival, moment), moment);
            granted := greatest(0, floor((rule.rate_burst * spacing
                        - extract(epoch from arrival - moment)) / spacing + 1e-6))::integer;
            if granted = 0 then
                wait_seconds := extract(epoch from arrival - moment) - (rule.rate_burst - 1) * spacing;
            end if;
        end if;
        return next;
    end loop;
end
$$;

create function {schema}.take_tokens(p_limit bigint, p_n integer) returns void
language plpgsql volatile as $$
declare
    spacing double precision;
    arrival timestamptz;
    next_seq bigint := nextval('{schema}.rate_seq');
begin
    select l.rate_seconds / l.rate_count into spacing from {schema}.limit_rule l where l.id = p_limit;
    select t.tat into arrival from {schema}.rate_take t where t.limit_id = p_limit order by t.seq desc limit 1;
    insert into {schema}.rate_take (limit_id, seq, tat)
    values (p_limit, next_seq,
            greatest(coalesce(arrival, {schema}.now()), {schema}.now()) + p_n * spacing * interval '1 second');
    delete from {schema}.rate_take t where t.limit_id = p_limit and t.seq < next_seq - 1000 and t.ctid = any (array(
        select o.ctid from {schema}.rate_take o where o.limit_id = p_limit and o.seq < next_seq - 1000 order by o.seq limit 10));
end
$$;
