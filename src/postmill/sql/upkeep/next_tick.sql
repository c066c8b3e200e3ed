-- Seconds until the next schedule is due; NULL: there is none. From $1 on: what lies before was found empty a moment
-- ago, and its dead index entries, which a pinned horizon keeps, are not walked over again.
select extract(epoch from least(
           (select t.next_run_at from {schema}.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
               and t.next_run_at >= coalesce($1::timestamptz, '-infinity')
             order by t.next_run_at limit 1),
           (select m.moment from {schema}.trigger t
             where t.trigger_type = 'schedule' and t.is_enabled and t.deleted_at is null and not t.broken
               and t.next_run_at is null limit 1)) - m.moment)::double precision,
       m.moment
  from (select {schema}.now() as moment) m
