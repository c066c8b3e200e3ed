"""Connections are opened in one place, which knows what a pooler bears."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "postmill"

OPENS = re.compile(r"psycopg\.connect\(|Connection\.connect\(|ConnectionPool\(|ConnectionPool\[\w+\]\(")


def test_connections_are_opened_in_one_place() -> None:
    """But for the benchmarks, which measure a direct way and what others do."""
    found = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if OPENS.search(file.read_text()) and "bench" not in file.parts
    }
    assert found == {"connections.py"}
