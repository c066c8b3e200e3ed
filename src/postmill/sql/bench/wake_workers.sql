-- Every worker looks for work in this queue at once, and asks whether it is paused.
select pg_notify('{schema}', '@' || l.holder || ' ' || $1::text), pg_notify('{schema}', '!resume') from {schema}.lease l
