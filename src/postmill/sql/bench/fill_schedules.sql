-- $2 schedules for a job type, each of an hour's minutes alike, with a payload that names its due moment.
insert into {schema}.trigger (label, trigger_type, cron_expr, timezone, definition_id, payload_template, next_run_at)
select 'bench ' || g, 'schedule', g % 60 || ' * * * *', (array['UTC', 'Europe/Amsterdam', 'America/New_York'])[1 + g % 3],
       d.id, '{"data": "{{ schedule.due }}"}', {schema}.now() + interval '1 hour' + g * interval '10 milliseconds'
  from generate_series(1, $2::integer) g, {schema}.job_definition d where d.key = $1::text
