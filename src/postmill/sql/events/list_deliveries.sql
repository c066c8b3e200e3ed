-- What came of an event at each trigger, or of each event at a trigger, the newest first.
select y.event_id, y.trigger_id, y.trigger_label, y.outcome, y.detail, y.job_id, y.decided_at
  from {schema}.event_deliveries y
 where ($1::uuid is null or y.event_id = $1::uuid) and ($2::uuid is null or y.trigger_id = $2::uuid)
   and ($3::uuid is null or y.event_id < $3::uuid)
 order by y.event_id desc, y.trigger_id
 limit $4::integer
