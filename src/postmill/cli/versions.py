"""What is installed."""

from __future__ import annotations

import platform

import psycopg

from postmill.cli.output import Output
from postmill.schema.migration import known_migrations, latest
from postmill.version import VERSION


def show(out: Output) -> None:
    """Print the versions of Postmill, its schema, Python, psycopg and libpq."""
    libpq = psycopg.pq.version()
    found = {
        "postmill": VERSION,
        "schema": latest(known_migrations()),
        "python": platform.python_version(),
        "psycopg": psycopg.__version__,
        "libpq": f"{libpq // 10000}.{libpq % 100}",
    }
    if out.as_json:
        out.document(found)
        return
    out.say(f"postmill {found['postmill']}")
    rest = ", ".join(f"{name} {value}" for name, value in found.items() if name != "postmill")
    out.say(f"({rest})", style="dim")
