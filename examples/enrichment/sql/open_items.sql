-- Items of one capture that are not enriched yet.
select count(*) from items where capture_id = %(capture_id)s and status = 'ENRICHING';
