-- The due moments of a schedule and what came of them, the newest first. $2: the last due moment of the page before.
select k.due, k.outcome, k.detail, k.job_id, k.fired_at, k.last_due, k.ticks
  from {schema}.schedule_ticks k
 where k.trigger_id = $1::uuid and ($2::timestamptz is null or k.due < $2::timestamptz)
 order by k.due desc
 limit $3::integer
