"""`postmill version`: what is installed."""

from __future__ import annotations

from postmill.cli import versions
from postmill.cli.run import Run


def show_version(run: Run) -> None:
    """Versions of Postmill, its schema, Python, psycopg and libpq."""
    versions.show(run.out)
