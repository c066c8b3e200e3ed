-- $1: rows in one go. A rule of no end is a thousand years.
select {schema}.coarsen_rollups(coalesce({schema}.keep_of('rollup_minutes'), interval '1000 years'),
                                coalesce({schema}.keep_of('rollups'), interval '1000 years'), $1::integer)
