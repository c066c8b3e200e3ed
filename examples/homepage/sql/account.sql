select id, remote_id, handle, tokens, version,
       expires_at <= (select postmill.now()) + interval '5 minutes' as expiring
  from social_accounts
 where id = %(id)s and status = 'connected'
