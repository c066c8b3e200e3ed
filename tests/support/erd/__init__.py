"""Drawings of tables, from a real database: `python -m tests.support.erd` makes them anew."""
