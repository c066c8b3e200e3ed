-- From CAPTURED to ENRICHING, with the job that does it.
update items set status = 'ENRICHING', job_id = %(job_id)s
 where id = %(id)s and status = 'CAPTURED'
returning id;
