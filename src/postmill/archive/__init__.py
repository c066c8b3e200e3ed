"""The cold archive: units of history in files, whatever fsspec can reach; written whole, read back, and read by people."""
