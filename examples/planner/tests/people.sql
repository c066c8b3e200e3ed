-- Two organizations. Tokens are the names in small letters: Olga owns, Pete plans, Vera looks on, a robot plans by a key.
insert into postmill.tenant (id, slug, name) values ('1efe049f-ae71-4226-97be-236b4df4a93a', 'bcg', 'BCG'),
       ('2efe049f-ae71-4226-97be-236b4df4a93b', 'other', 'Other') on conflict do nothing;
insert into planner.credential (token_sha256, org_id, actor_type, actor_id)
select sha256(convert_to(who, 'UTF8')), org::uuid, kind, who
  from (values ('olga', '1efe049f-ae71-4226-97be-236b4df4a93a', 'user'), ('pete', '1efe049f-ae71-4226-97be-236b4df4a93a', 'user'),
               ('vera', '1efe049f-ae71-4226-97be-236b4df4a93a', 'user'), ('robot', '1efe049f-ae71-4226-97be-236b4df4a93a', 'api_key'),
               ('eve', '2efe049f-ae71-4226-97be-236b4df4a93b', 'user')) c(who, org, kind);
insert into planner.access (org_id, actor_type, actor_id, role)
select org_id, actor_type, actor_id,
       case actor_id when 'olga' then 'owner' when 'eve' then 'owner' when 'vera' then 'viewer' else 'planner' end
  from planner.credential;
insert into planner.collaborator (org_id, name, email, phone, device, account, skills)
values ('1efe049f-ae71-4226-97be-236b4df4a93a', 'Ann', 'ann@example.org', '+31600000001', 'ExponentPushToken[ann]', 'ann', '{rigging,sound}'),
       ('1efe049f-ae71-4226-97be-236b4df4a93a', 'Ben', 'ben@example.org', null, null, null, '{rigging}'),
       ('1efe049f-ae71-4226-97be-236b4df4a93a', 'Cem', null, null, null, 'cem', '{sound}'),
       ('2efe049f-ae71-4226-97be-236b4df4a93b', 'Zoe', 'zoe@example.net', null, null, null, '{rigging}');
