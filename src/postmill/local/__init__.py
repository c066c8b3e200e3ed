"""A PostgreSQL server of one's own, in a folder, for a first try, for tests and for `postmill up`."""
