insert into ai_tagging_pace as p (provider, batch_delay) values ('anthropic', least(%(step)s::float8, 60))
on conflict (provider) do update
   set batch_delay = least(greatest(p.batch_delay * 2, %(step)s::float8), 60), updated_at = (select postmill.now())
returning batch_delay
