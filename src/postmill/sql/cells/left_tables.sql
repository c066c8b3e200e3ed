select t.name, t.why from {schema}.left_tables() t order by t.name
