-- What has been counted and is not summed up yet would be left behind.
select {schema}.fold_rollups(100000), {schema}.fold_error_groups(100000)
