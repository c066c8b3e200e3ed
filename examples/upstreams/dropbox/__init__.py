"""A stand-in for Dropbox: the file endpoints of its HTTP API in their real shapes, and its webhooks."""
