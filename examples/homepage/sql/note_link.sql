with noted as (
    update good_sites
       set last_checked_at = (select postmill.now()),
           last_error = %(error)s,
           failures = case %(outcome)s when 'alive' then 0 when 'failed' then failures + 1 else failures end,
           status = case when %(outcome)s = 'alive' then 'live'
                         when %(outcome)s = 'failed' and failures + 1 >= %(most_failures)s then 'dead' else status end,
           moved_to = case when %(outcome)s = 'alive' then %(moved_to)s else moved_to end,
           updated_at = case when %(outcome)s = 'alive' and status = 'dead' then (select postmill.now()) else updated_at end
     where id = %(id)s and (last_checked_at is null or last_checked_at < %(since)s)
    returning status
)
select (select n.status from noted n) as status, (select postmill.now()) as moment
