-- An account that is connected, or connected anew: what its tokens were is of no use any more.
insert into social_accounts as a (id, remote_id, handle, tokens, expires_at)
values (%(id)s, %(remote_id)s, %(handle)s, %(tokens)s, (select postmill.now()) + %(lifetime)s * interval '1 second')
on conflict (id) do update
   set handle = excluded.handle, tokens = excluded.tokens, expires_at = excluded.expires_at, version = a.version + 1,
       status = 'connected', renewing_until = null, last_error = null
returning id
