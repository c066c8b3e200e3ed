"""Zoltag: pictures of many tenants, synced from Dropbox and tagged by commands that run as jobs."""
