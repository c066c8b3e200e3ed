-- Symbols that one portal shows.
insert into stocks (symbol, name)
select s.key, %(portal)s || ': ' || s.value from jsonb_each_text(%(stocks)s) s
on conflict (symbol) do update set name = excluded.name
returning symbol
