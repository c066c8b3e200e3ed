with kept as (
    insert into social_posts as p (account_id, post_id, content, posted_at)
    select %(id)s, n.id, n.text, n.created_at from jsonb_to_recordset(%(posts)s) as n(id text, text text, created_at timestamptz)
    on conflict (account_id, post_id) do update set content = excluded.content
     where p.content <> excluded.content
    returning post_id
), account as (
    update social_accounts set refreshed_at = (select postmill.now()), last_error = null where id = %(id)s
)
select count(*) as changed from kept
