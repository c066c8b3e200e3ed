-- The alerts of one place are those of the answer: others are over, as are those that have expired.
with answer as (
    select * from jsonb_to_recordset(%(alerts)s)
        as a(alert_id text, event text, severity text, headline text, description text, instruction text,
             onset_at timestamptz, expires_at timestamptz)
     where a.expires_at > (select postmill.now())
), over as (
    delete from weather_alerts
     where place_id = %(id)s and alert_id not in (select alert_id from answer)
), kept as (
    insert into weather_alerts as w (place_id, alert_id, event, severity, headline, description, instruction, onset_at,
                                     expires_at)
    select %(id)s, alert_id, event, severity, headline, description, instruction, onset_at, expires_at from answer
    on conflict (place_id, alert_id) do update
       set event = excluded.event, severity = excluded.severity, headline = excluded.headline,
           description = excluded.description, instruction = excluded.instruction, onset_at = excluded.onset_at,
           expires_at = excluded.expires_at, updated_at = (select postmill.now())
     where (w.event, w.severity, w.headline, w.description, w.instruction, w.onset_at, w.expires_at)
           is distinct from (excluded.event, excluded.severity, excluded.headline, excluded.description,
                             excluded.instruction, excluded.onset_at, excluded.expires_at)
    returning w.alert_id
), place as (
    update weather_places set alerts_at = (select postmill.now()), alerts_error = null where id = %(id)s
)
select count(*) as changed from kept
