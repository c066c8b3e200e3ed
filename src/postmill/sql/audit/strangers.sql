-- The first row of the log that neither is in the chain nor waits for it: nobody writes such.
select l.id, l.action from {schema}.audit_log l
 where not exists (select from {schema}.audit_chain c where c.audit_id = l.id)
   and not exists (select from {schema}.audit_unsealed u where u.id = l.id)
 order by l.id limit 1
