-- Whose turn it is: who has waited longest. Each is asked once in a run; one that another worker has in hand is passed over.
update stocks
   set asked_at = (select postmill.now())
 where symbol = (select symbol from stocks
                  where is_active and (asked_at is null or asked_at < %(begun)s)
                  order by asked_at nulls first, symbol
                  limit 1
                    for update skip locked)
returning symbol
