-- What a fleet that works tells who watches: what the round rollup sums up, and ($1) that it was measured.
select {schema}.tell_live('dead,errors,jobs,triggers', t.id::text), {schema}.tell_live('queues', '-'),
       case when $1::boolean then {schema}.tell_measured() end
  from {schema}.tenant t where t.slug = 'tenant-0'
