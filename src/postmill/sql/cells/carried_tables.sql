select t.name, t.how, t.moment from {schema}.carried_tables() t order by t.n
