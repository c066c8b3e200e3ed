-- A new organization for each run: whatever an earlier one has left has no part in it.
with org as (
    insert into postmill.tenant (id, slug, name)
    select made, 'festival-' || substr(made::text, 1, 8), 'Festival' from gen_random_uuid() made returning id
), tokens as (
    insert into planner.credential (token_sha256, org_id, actor_type, actor_id)
    select sha256(convert_to(who, 'UTF8')), org.id, 'user', who from org, unnest(array['olga', 'pete']) who
    on conflict (token_sha256) do update set org_id = excluded.org_id
), rights as (
    insert into planner.access (org_id, actor_type, actor_id, role)
    select org.id, 'user', who, case who when 'olga' then 'owner' else 'planner' end from org, unnest(array['olga', 'pete']) who
), people as (
    insert into planner.collaborator (org_id, name, email, phone, device, account, skills)
    select org.id, name, lower(name) || '@example.org', phone, device, account, skills::text[]
      from org, (values ('Ann', '+31600000001', 'ExponentPushToken[ann]', 'ann', '{rigging,sound}'), ('Ben', null, null, 'ben', '{rigging}'),
                        ('Cem', '+31600000003', null, null, '{sound,light}'), ('Dina', null, 'ExponentPushToken[dina]', null, '{light}'),
                        ('Eli', null, null, 'eli', '{rigging,light}'), ('Fay', '+31600000006', null, 'fay', '{sound}'))
           p(name, phone, device, account, skills)
)
select id from org
