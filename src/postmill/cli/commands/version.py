"""`postmill version`: what is installed."""

from __future__ import annotations

import platform

import psycopg

from postmill.cli.run import Run
from postmill.schema.migration import known_migrations, latest
from postmill.version import VERSION


def show_version(run: Run) -> None:
    """Versions of Postmill, its schema, Python, psycopg and libpq."""
    libpq = psycopg.pq.version()
    found = {
        "postmill": VERSION,
        "schema": latest(known_migrations()),
        "python": platform.python_version(),
        "psycopg": psycopg.__version__,
        "libpq": f"{libpq // 10000}.{libpq % 100}",
    }
    if run.out.as_json:
        run.out.document(found)
        return
    run.out.say(f"postmill {found['postmill']}")
    rest = ", ".join(f"{name} {value}" for name, value in found.items() if name != "postmill")
    run.out.say(f"({rest})", style="dim")
