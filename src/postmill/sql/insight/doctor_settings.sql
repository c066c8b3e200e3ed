-- Server settings by name, as this session sees them.
select s.name, s.setting, coalesce(s.unit, '') as unit, s.source
  from pg_settings s
 where s.name = any ($1::text[])
 order by s.name
