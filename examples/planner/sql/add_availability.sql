insert into planner.availability (org_id, collaborator_id, starts_at, ends_at, sha256)
select %(org)s, t.person, t.starts_at, t.ends_at, %(sha256)s
  from unnest(%(people)s::uuid[], %(starts)s::timestamptz[], %(ends)s::timestamptz[]) as t(person, starts_at, ends_at)
on conflict do nothing
