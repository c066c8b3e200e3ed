select queue, queue_priority, lane, priority, weight from {schema}.door_work_lanes($1::text[], $2::integer)
