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

select {schema}.secure_requests();
