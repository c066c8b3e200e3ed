"""The part of Dropbox's HTTP API that the application needs."""
