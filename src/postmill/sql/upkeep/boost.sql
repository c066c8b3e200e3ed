select b.queue, b.raised, b.next_queue, b.next_lane from {schema}.boost_round($1::text, $2::uuid, $3::integer, $4::integer, $5::integer) b
