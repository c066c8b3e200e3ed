-- Half the cadence after its last success an account is due: so a further attempt asks for those that have failed.
select id, handle
  from social_accounts
 where status = 'connected'
   and coalesce(refreshed_at, '-infinity') <= (select postmill.now()) - interval '15 minutes'
 order by refreshed_at nulls first, id
