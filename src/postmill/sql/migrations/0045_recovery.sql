-- postmill: safe
-- Recovery rules: dead letters of a known cause that are replayed by themselves, a bounded number of times. The rules are
-- the workers' settings; here is where each stands, and what it did.

create table {schema}.recovery_rule (
    name text collate "C" primary key,
    rule jsonb not null,
    looked_at timestamptz not null default '2000-01-01Z',
    looked_id uuid not null default '00000000-0000-0000-0000-000000000000',
    last_run_at timestamptz,
    replayed bigint not null default 0,
    skipped bigint not null default 0
);

-- root: the first job of the line of replays. status: replayed, or why not (exhausted: as often as the rule allows).
create table {schema}.recovery (
    rule text collate "C" not null,
    job_id uuid not null,
    tenant_id uuid not null,
    root uuid not null,
    status text collate "C" not null,
    new_id uuid,
    at timestamptz not null,
    primary key (rule, job_id)
);
create index recovery_root on {schema}.recovery (root, rule);
create index recovery_at on {schema}.recovery (at);

create function {schema}.root_of(p_id uuid) returns uuid
language plpgsql stable as $$
declare
    root uuid := p_id;
    before uuid;
begin
    for step in 1..1000 loop
        before := (select j.replayed_from from {schema}.any_job j where j.id = root);
        exit when before is null;
        root := before;
    end loop;
    return root;
end
$$;

-- One round of the rules of this worker. Each walks along the letters in the order in which they were given up, as far as
-- they are old enough, and meets each letter once; 2,000 looked at and 50 replayed in one go at most. Keys of a rule as of
-- read_letters_matching, and older_than (seconds), times (per line of replays), most (replays an hour). Letters whose
-- definition wants to be asked before a replay (replay_class) are left alone: a rule is nobody to ask.
create function {schema}.recover(p_rules jsonb)
returns table (rule text, replayed integer, skipped integer, goes_on boolean)
language plpgsql volatile set enable_seqscan = off as $$
declare
    moment timestamptz := {schema}.now();
    own {schema}.recovery_rule;
    asked record;
    letter record;
    answer record;
    first_one uuid;
    allowance integer;
    looked integer;
begin
    for asked in select r.key, r.value from jsonb_each(p_rules) r order by r.key loop
        insert into {schema}.recovery_rule (name, rule) values (asked.key, asked.value) on conflict (name) do nothing;
        select r.* into own from {schema}.recovery_rule r where r.name = asked.key for update;
        if own.rule <> asked.value then
            own.looked_at := '2000-01-01Z';
            own.looked_id := '00000000-0000-0000-0000-000000000000';
        end if;
        rule := asked.key;
        replayed := 0;
        skipped := 0;
        looked := 0;
        allowance := least(50, (asked.value ->> 'most')::integer - (
            select count(*) from {schema}.recovery v
             where v.at > moment - interval '1 hour' and v.rule = asked.key and v.status = 'replayed'));
        perform {schema}.set_actor('upkeep', 'system', 'recovery ' || asked.key);
        for letter in
            select d.id, d.tenant_id, d.failed_at,
                   coalesce(d.reason = asked.value ->> 'reason', asked.value ->> 'reason' is null)
                   and coalesce(d.queue = asked.value ->> 'queue', asked.value ->> 'queue' is null)
                   and coalesce(d.job_type = asked.value ->> 'job_type', asked.value ->> 'job_type' is null)
                   and coalesce(d.error_class = asked.value ->> 'error_class', asked.value ->> 'error_class' is null)
                   and coalesce(d.error_code = asked.value ->> 'error_code', asked.value ->> 'error_code' is null)
                   and coalesce(d.error_status = (asked.value ->> 'error_status')::integer, asked.value ->> 'error_status' is null)
                   and coalesce(strpos(lower(d.error_message), lower(asked.value ->> 'message')) > 0,
                                asked.value ->> 'message' is null) as fits
              from {schema}.dead_letter d
             where (d.failed_at, d.id) > (own.looked_at, own.looked_id)
               and d.failed_at < moment - (asked.value ->> 'older_than')::double precision * interval '1 second'
             order by d.failed_at, d.id limit 2000
        loop
            exit when letter.fits and replayed >= allowance;
            looked := looked + 1;
            own.looked_at := letter.failed_at;
            own.looked_id := letter.id;
            continue when not letter.fits;
            first_one := {schema}.root_of(letter.id);
            if (select count(*) from {schema}.recovery v where v.root = first_one and v.rule = asked.key
                   and v.status = 'replayed') >= (asked.value ->> 'times')::integer then
                select letter.id, 'exhausted' as status, null::uuid as new_id into answer;
            else
                begin
                    select r.* into answer
                      from {schema}.rerun_jobs('dead.replay', array[letter.id], null, false, false, null, null) r;
                exception when others then
                    select letter.id, 'error: ' || left(sqlerrm, 200) as status, null::uuid as new_id into answer;
                end;
            end if;
            insert into {schema}.recovery as v (rule, job_id, tenant_id, root, status, new_id, at)
            values (asked.key, letter.id, letter.tenant_id, first_one, answer.status, answer.new_id, moment)
            on conflict on constraint recovery_pkey do update
                set status = excluded.status, new_id = excluded.new_id, at = excluded.at;
            if answer.status = 'replayed' then
                replayed := replayed + 1;
            else
                skipped := skipped + 1;
            end if;
        end loop;
        goes_on := allowance > 0 and (looked = 2000 or replayed >= allowance);
        update {schema}.recovery_rule r
           set rule = asked.value, looked_at = own.looked_at, looked_id = own.looked_id, last_run_at = moment,
               replayed = r.replayed + recover.replayed, skipped = r.skipped + recover.skipped
         where r.name = asked.key;
        return next;
    end loop;
    perform {schema}.set_actor(null, null, null);
    delete from {schema}.recovery v where v.ctid = any (array(
        select o.ctid from {schema}.recovery o where o.at < moment - {schema}.keep_of('operations') limit 1000));
end
$$;

-- The rules that workers have run, and what came of them; the platform's to see.
create function {schema}.read_recovery_rules()
returns table (name text, rule jsonb, last_run_at timestamptz, replayed bigint, skipped bigint, replayed_hour bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return query
    select r.name, r.rule, r.last_run_at, r.replayed, r.skipped,
           (select count(*) from {schema}.recovery v where v.at > (select {schema}.now()) - interval '1 hour'
               and v.rule = r.name and v.status = 'replayed')
      from {schema}.recovery_rule r where (select {schema}.sees_all()) order by r.name;
end
$$;

-- Open letters by error group, tenant and job type (those without a group by their reason, too), the most first, below
-- (p_n, p_key): how many, of what ages, and when the oldest goes. hour, day, week: younger than that, counted up to p_count.
-- reason: one of them. expires_at NULL: kept for ever. A group is of one type: its letters are counted by an index alone.
create function {schema}.read_dead_groups(p_tenant uuid default null, p_job_type text default null, p_queue text default null,
    p_n bigint default null, p_key text default null, p_most integer default 50, p_count integer default 10000)
returns table (key text, error_group text, tenant_id uuid, slug text, job_type text, reason text, n bigint, hour bigint,
    day bigint, week bigint, oldest timestamptz, newest timestamptz, expires_at timestamptz, error_class text,
    error_message text, frame text, status text, resolved_version integer, resolved_at timestamptz, total bigint, groups bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_seqscan = off set jit = off set work_mem = '32MB' as $$
declare
    own uuid := coalesce(p_tenant, {schema}.scope_tenant());
    moment timestamptz := {schema}.now();
    kept text[] := (select p.keep_reasons from {schema}.partition_policy p);
    f_queues text[] := {schema}.read_letter_queues(p_queue);
begin
    return query
    with live as materialized (
        -- A group has one type, so two columns tell 40,000 groups of 90,000 rows apart: with four it takes twice as long.
        select y.error_group, y.tenant_id, min(y.job_type) as job_type, null::text as only, min(y.reason) as reason,
               sum((y.opened - y.closed)::integer) as n
          from {schema}.dead_tally y
         where y.error_group is not null and (own is null or y.tenant_id = own)
           and (p_job_type is null or y.job_type = p_job_type) and (f_queues is null or y.queue = any (f_queues))
         group by 1, 2 having sum((y.opened - y.closed)::integer) > 0
        union all
        select null, y.tenant_id, y.job_type, y.reason, y.reason, sum((y.opened - y.closed)::integer)
          from {schema}.dead_tally y
         where y.error_group is null and (own is null or y.tenant_id = own)
           and (p_job_type is null or y.job_type = p_job_type) and (f_queues is null or y.queue = any (f_queues))
         group by y.tenant_id, y.job_type, y.reason having sum((y.opened - y.closed)::integer) > 0
    ), least as materialized (
        -- Below it no group can be on the page, and needs no key.
        select l.n from live l where p_n is null or l.n < p_n order by l.n desc offset greatest(p_most - 1, 0) limit 1
    ), page as materialized (
        select k.* from (select l.*, concat_ws('/', coalesce(l.error_group, '-' || l.only), l.tenant_id, l.job_type) as key
                           from live l
                          where l.n >= coalesce((select f.n from least f), 0) and (p_n is null or l.n <= p_n) offset 0) k
         where p_n is null or k.n < p_n or k.key > p_key
         order by k.n desc, k.key limit p_most
    )
    select p.key, p.error_group, p.tenant_id, t.slug, p.job_type, p.reason, p.n, a.hour, a.day, z.week, o.failed_at, w.failed_at,
           case when p.reason <> all (kept) and e.keep < interval '1000 years' then o.failed_at + e.keep end, w.error_class,
           left(w.error_message, 500), g.frame, case when g.id is not null then {schema}.error_status(g, g.first_seen_at, moment) end,
           g.resolved_version, g.resolved_at, (select sum(l.n)::bigint from live l), (select count(*) from live l)
      from page p
      left join {schema}.tenant t on t.id = p.tenant_id
      left join {schema}.error_group g on g.id = p.error_group
     cross join lateral (select {schema}.keep_of('dead_letter', p.tenant_id) as keep) e
      left join lateral (
         (select d.failed_at from {schema}.dead_letter d
           where d.tenant_id = p.tenant_id and d.error_group = p.error_group order by d.failed_at, d.id limit 1)
         union all
         (select d.failed_at from {schema}.dead_letter d
           where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
             and d.job_type is not distinct from p.job_type order by d.failed_at, d.id limit 1)) o on true
      left join lateral (
         (select d.failed_at, d.error_class, d.error_message from {schema}.dead_letter d
           where d.tenant_id = p.tenant_id and d.error_group = p.error_group order by d.failed_at desc, d.id desc limit 1)
         union all
         (select d.failed_at, d.error_class, d.error_message from {schema}.dead_letter d
           where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
             and d.job_type is not distinct from p.job_type order by d.failed_at desc, d.id desc limit 1)) w on true
     cross join lateral (
        select count(*) filter (where y.failed_at > moment - interval '1 hour') as hour, count(*) as day
          from (
              (select d.failed_at from {schema}.dead_letter d
                where d.tenant_id = p.tenant_id and d.error_group = p.error_group and d.failed_at > moment - interval '1 day'
                order by d.failed_at desc limit p_count)
              union all
              (select d.failed_at from {schema}.dead_letter d
                where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
                  and d.job_type is not distinct from p.job_type and d.failed_at > moment - interval '1 day'
                order by d.failed_at desc limit p_count)) y) a
     -- All of them, where the oldest is younger than that.
     cross join lateral (
        select case when o.failed_at > moment - interval '7 days' then p.n else (
            select count(*) from (
              (select d.failed_at from {schema}.dead_letter d
                where d.tenant_id = p.tenant_id and d.error_group = p.error_group and d.failed_at > moment - interval '7 days'
                order by d.failed_at desc limit p_count)
              union all
              (select d.failed_at from {schema}.dead_letter d
                where p.error_group is null and d.tenant_id = p.tenant_id and d.error_group is null and d.reason = p.only
                  and d.job_type is not distinct from p.job_type and d.failed_at > moment - interval '7 days'
                order by d.failed_at desc limit p_count)) y) end as week) z
     order by p.n desc, p.key;
end
$$;
