"""Django: `django.db.connection`, or one of `django.db.connections`, inside `atomic()` or not."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.connection import ConnectionProxy

from postmill.bind.runner import Blocking, named, pyformat
from postmill.store.statement import Rows, Statement


def runner_for(kind: type) -> Blocking | None:
    """The runner for this kind of connection."""
    return Blocking(_fetch) if issubclass(kind, BaseDatabaseWrapper | ConnectionProxy) else None


def _fetch(conn: Any, statement: Statement[Any]) -> Rows:
    if conn.vendor != "postgresql":
        raise TypeError(f"postmill needs Django's PostgreSQL backend, not {conn.vendor}")
    with conn.cursor() as cursor:
        cursor.execute(pyformat(statement.sql), named(statement.args))
        rows: Rows = cursor.fetchall()
        return rows
