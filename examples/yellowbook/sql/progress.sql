-- Where the demo stands: entries, those whose embedding is of the text that was wanted, jobs that are not over, dead letters
-- that somebody can do something about.
select (select count(*) from yellow_book_entry) as entries,
       (select count(*) from yellow_book_entry where embedded_hash = wanted_hash) as embedded,
       (select count(*) from postmill.jobs where status in ('queued', 'running')) as open,
       (select count(*) from dlq_entry where reason <> 'subject_deleted') as dead
