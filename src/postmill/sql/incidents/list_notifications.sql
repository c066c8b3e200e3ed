select n.event, n.step, n.channel, n.instead_of, n.status, n.due_at, n.sent_at, n.tries, n.error
  from {schema}.read_notifications($1::uuid) n
