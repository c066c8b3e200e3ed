-- Open incidents by kind, severity and queue.
select i.kind, i.severity::text, coalesce(i.queue, ''), count(*)
  from {schema}.incident i where i.resolved_at is null group by 1, 2, 3
