-- The last months, this one included, the newest first.
select u.*
  from ai_usage_tracking u
 where u.month > date_trunc('month', (select postmill.now()) at time zone 'UTC') - %(months)s * interval '1 month'
   and u.month <= ((select postmill.now()) at time zone 'UTC')::date
 order by u.month desc
