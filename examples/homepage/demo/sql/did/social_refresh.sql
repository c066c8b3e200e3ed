select (select count(*) from social_posts p where p.account_id = a.id) as posts,
       a.version - 1 as "tokens renewed"
  from social_accounts a
 where a.handle = '@' || %(portal)s and a.refreshed_at >= %(since)s
