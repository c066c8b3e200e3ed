-- After a whole batch: half, and none where that is less than the step.
update ai_tagging_pace
   set batch_delay = case when batch_delay > %(step)s::float8 then batch_delay / 2 else 0 end, updated_at = (select postmill.now())
 where provider = 'anthropic' and batch_delay > 0
returning batch_delay
