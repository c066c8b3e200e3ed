-- Server settings by name, as role, database and server have them: the check itself has a time limit of its own.
select s.name, s.reset_val as setting, coalesce(s.unit, '') as unit, s.source
  from pg_settings s
 where s.name = any ($1::text[])
 order by s.name
