-- $1 is a word that only this round knows.
select pg_notify('{schema}_doctor', $1::text)
