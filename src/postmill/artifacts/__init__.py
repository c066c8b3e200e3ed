"""The store of artifacts: where their files are, whatever fsspec can reach; and how one gets in and out of it."""
