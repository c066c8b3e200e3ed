insert into mailboxes as m (name, uid_validity) values (%(name)s, %(uid_validity)s)
on conflict (name) do update
   set last_uid = case when m.uid_validity = excluded.uid_validity then m.last_uid else 0 end,
       trying_uid = case when m.uid_validity = excluded.uid_validity then m.trying_uid end,
       uid_validity = excluded.uid_validity
returning last_uid
