-- How long a migration stands in line for a table. Whoever comes behind it waits, too, workers among them; after this it
-- steps back and lets them through.
set local lock_timeout = '2s'
