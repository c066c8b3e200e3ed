-- Incidents of which a step is due, with what their queue says, and the database's clock.
select i.id, i.kind, i.key, i.cycle, i.step, i.cycle_at, i.acknowledged_at is not null or i.resolved_at is not null,
       q.contact, q.escalation, (select {schema}.now())
  from {schema}.incident i left join {schema}.queue q on q.name = i.queue
 where i.escalate_at <= (select {schema}.now())
 order by i.escalate_at, i.id limit $1::integer
