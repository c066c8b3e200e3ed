-- How far the sums are behind what happened: seconds to which jobs that were made are counted, and rows that are still to be summed
-- up (20,001: there may be more).
select extract(epoch from (select {schema}.now()) - s.counted_to)::double precision as seconds,
       (select count(*)::integer from (select from {schema}.rollup_part limit 20001) x) as parts,
       exists (select from {schema}.lease l where l.expires_at > (select {schema}.now())) as somebody
  from {schema}.rollup_state s
