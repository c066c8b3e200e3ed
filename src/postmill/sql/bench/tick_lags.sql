-- Seconds from the due moment to the job, of all ticks that made one.
select extract(epoch from k.fired_at - k.due)::double precision from {schema}.tick k where k.outcome = 'enqueued'
 order by k.fired_at
