select (select count(*) from social_posts p where p.account_id = a.id) as posts,
       a.version - 1 as renewals
  from social_accounts a
 where a.handle = '@' || %(portal)s and a.refreshed_at >= %(since)s
