"""The pages for people, above the HTTP API."""
