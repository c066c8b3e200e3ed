"""`postmill version`: what is installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import psycopg

from postmill.cli.run import Run
from postmill.schema.migration import known_migrations, latest


def installed() -> str:
    """The version of the installed package, or `unknown` in a bare checkout."""
    try:
        return version("postmill")
    except PackageNotFoundError:
        return "unknown"


def show_version(run: Run) -> None:
    """Versions of Postmill, its schema, Python, psycopg and libpq."""
    libpq = psycopg.pq.version()
    found = {
        "postmill": installed(),
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
