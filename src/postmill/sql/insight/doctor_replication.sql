-- Who follows this server, and how far behind; on a standby: how far behind we are ourselves. Lengths are NULL where nothing was
-- written lately, or where this role may not see them.
select s.application_name::text as name, s.state::text as state, s.sync_state::text as sync,
       extract(epoch from s.replay_lag)::double precision as seconds
  from pg_stat_replication s
union all
select 'this server', 'replaying', '', extract(epoch from (select {schema}.now()) - pg_last_xact_replay_timestamp())::double precision
 where pg_is_in_recovery()
 order by 4 desc nulls last, 1
