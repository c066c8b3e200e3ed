-- Workers by state. lost: gone without a word, until the sweeper closes them; HTTP workers always go so.
select x.state, count(s.state)
  from unnest(array['running', 'draining', 'lost']) as x(state)
  left join (select case when l.expires_at is null or l.expires_at <= (select {schema}.now()) then 'lost'
                         when w.draining then 'draining' else 'running' end as state, w.metadata ->> 'kind' as kind
               from {schema}.worker w left join {schema}.lease l on l.holder = w.holder
              where w.stopped_at is null) s
    on s.state = x.state and (s.state <> 'lost' or s.kind is distinct from 'http')
 group by 1
