-- The text of an item that still waits for its enrichment; no row if it was discarded or is ready already.
select body from items where id = %(id)s and status = 'ENRICHING';
