-- How often a message was begun, and not ended. Who only has it in hand at the same moment is not counted: it may take neither
-- of the two down.
update mailboxes m
   set tries = case when m.trying_uid is distinct from %(uid)s then 1
                    when m.trying_job <> %(job)s
                         and exists (select from postmill.job_state(array[m.trying_job]) j where j.state = 'running') then m.tries
                    else m.tries + 1 end,
       trying_uid = %(uid)s, trying_job = %(job)s
 where m.name = %(name)s and m.uid_validity = %(uid_validity)s
returning m.tries
