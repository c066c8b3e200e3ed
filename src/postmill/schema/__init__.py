"""The database schema: forward-only numbered migrations, and what state a database is in."""
