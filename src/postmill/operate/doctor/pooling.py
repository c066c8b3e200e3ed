"""What a pooler in transaction mode does, seen from two of its connections."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from postmill.operate.doctor.probe import ask

Conn = psycopg.Connection[Any]

TRIES = 5


def changes_hands(one: Conn, other: Conn, schema: str) -> bool:
    """Does a process of the server answer both of two open connections, or several of them one?

    Either says that no process is a connection's own between its transactions. A pooler prefers the process that it used
    last, so with two connections that take turns it shows even where nobody else is there.
    """
    mine: set[int] = set()
    for _ in range(TRIES):
        mine.add(_process(one, schema))
        if len(mine) > 1 or _process(other, schema) in mine:
            return True
    return False


def bears_prepared(one: Conn, other: Conn) -> bool:
    """Behind a pooler in transaction mode: does each connection find what it has prepared, and only that?

    Without a pooler's help a name is taken already where another connection used it on the same process, and unknown
    on another process.
    """
    return all(_prepares(one, other) for _ in range(TRIES))


def _prepares(one: Conn, other: Conn) -> bool:
    name = f"postmill_doctor_{secrets.token_hex(8)}".encode()
    answers = (
        one.pgconn.prepare(name, b"select 1"),
        other.pgconn.prepare(name, b"select 1"),
        one.pgconn.exec_prepared(name, []),
    )
    for conn in (
        one,
        other,
    ):  # where the pooler has renamed it this is refused, and the pooler forgets it by itself
        conn.pgconn.exec_(b"deallocate " + name)
    return all(answer.status != ExecStatus.FATAL_ERROR for answer in answers)


def _process(conn: Conn, schema: str) -> int:
    return int(ask(conn, schema, "doctor_backend")[0]["pid"])
