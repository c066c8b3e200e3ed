select required, waiting, oldest_seconds, failing, error from {schema}.door_archive_state()
