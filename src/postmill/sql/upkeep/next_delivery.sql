-- Seconds until the next pending delivery is due; NULL: there is none.
select extract(epoch from min(y.due_at) - (select {schema}.now()))::double precision
  from {schema}.event_delivery y where y.outcome = 'pending'
