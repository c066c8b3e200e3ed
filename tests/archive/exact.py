"""Rows as texts that are equal where the rows are: numbers by value, whatever their length, moments to the microsecond."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Context
from typing import Any

from psycopg import Connection

JOBS = ("job", "job_kept")
"""Tables of jobs, whose tags stand beside them."""

_LONG = Context(prec=2000)


def exact(line: str | bytes) -> str:
    """A row, as PostgreSQL or the archive writes it."""
    row = json.loads(line, parse_float=_number, parse_int=_number)
    return json.dumps({key: _moment(value) for key, value in row.items()}, sort_keys=True)


def dropped(conn: Connection[Any], source: str) -> list[str]:
    """The rows of a table as PostgreSQL writes them, sorted."""
    conn.execute("set timezone = 'UTC'")
    row = "to_jsonb(t)" + (" || jsonb_build_object('tags', postmill.tags_of(t.id))" if source in JOBS else "")
    found = conn.execute(f"select ({row})::text from postmill.{source} t".encode()).fetchall()
    return sorted(exact(row[0]) for row in found)


def _number(text: str) -> str:
    return f"number {_LONG.create_decimal(text).normalize(_LONG)}"


def _moment(value: object) -> object:
    if isinstance(value, str) and len(value) > 19 and value[10] == "T":
        return datetime.fromisoformat(value).timestamp()
    return value
