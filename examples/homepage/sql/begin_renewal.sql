-- One at a time: a refresh token is good for once. Who has died while doing it is waited for until a minute has passed.
update social_accounts
   set renewing_until = (select postmill.now()) + interval '1 minute'
 where id = %(id)s and version = %(version)s and status = 'connected'
   and (renewing_until is null or renewing_until <= (select postmill.now()))
returning id
