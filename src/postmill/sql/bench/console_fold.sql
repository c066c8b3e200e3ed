-- What a round of upkeep does.
select {schema}.fold_dead_tally(0)
