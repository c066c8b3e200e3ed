"""The engine: claims, runs and reports jobs. Async, on psycopg 3."""
