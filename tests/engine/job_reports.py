"""The reports of the state machine test, by name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import Connection

from tests.support import sessions
from tests.support.sessions import Held

HOW = [
    "complete",
    "retry",
    "retry-later",
    "snooze",
    "release",
    "unstarted",
    "refuse",
    "fail",
    "bury",
    "cancel",
]


def reported(conn: Connection[Any], how: str, lines: list[Held]) -> set[UUID]:
    """Do it; the ids that were not touched."""
    match how:
        case "complete":
            return sessions.complete(conn, lines)
        case "retry" | "retry-later":
            return sessions.put_back(conn, lines, "failed", 3600.0 * (how == "retry-later"), "E")
        case "snooze":
            return sessions.put_back(conn, lines, "snoozed", 3600.0)
        case "release" | "unstarted":
            return sessions.put_back(conn, lines, "interrupted" if how == "release" else None, -1.0)
        case "refuse":
            return sessions.refuse(conn, lines)
        case "bury":
            return sessions.bury(conn, lines)
        case _:
            return sessions.finish(conn, lines, "failed" if how == "fail" else "canceled")
