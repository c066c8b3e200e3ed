-- How far the sums are behind what happened: seconds since the first job was made that is not counted (0: there is none), and
-- rows that are still to be summed up (20,001: there may be more).
select greatest(0, extract(epoch from (select {schema}.now()) - {schema}.first_made(s.counted_to, (select {schema}.now()))))
           ::double precision as seconds,
       (select count(*)::integer from (select from {schema}.rollup_part limit 20001) x) as parts,
       exists (select from {schema}.lease l where l.expires_at > (select {schema}.now())) as somebody
  from {schema}.rollup_state s
