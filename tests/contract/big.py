"""A seeded database, and what can be asked of its plans."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import Connection, Rollback

from tests.contract.million import seed
from tests.support.plans import Plans, traced
from tests.support.sessions import WorkerSession


class Big:
    """The seeded database, and what can be asked of it."""

    def __init__(self, conn: Connection[Any], n: int) -> None:
        self.conn = conn
        self.n = n
        seed(conn, n)
        self.worker = WorkerSession(conn)
        self.rescuer = WorkerSession(conn, age=100)

    def ids(self, text: str, *args: Any) -> list[UUID]:
        return [row[0] for row in self.conn.execute(text.encode(), args).fetchall()]

    def trace(self, do: Any, *, calls: int = 7) -> list[Plans]:
        """The plans of the first call and of the last, each undone."""
        seen = []
        for call in range(calls):
            with self.conn.transaction():
                if call in (0, calls - 1):
                    with traced(self.conn) as plans:
                        do()
                    seen.append(plans)
                else:
                    do()
                raise Rollback
        return seen


def lean(plans: Plans, *allowed: str) -> None:
    """No table with many rows was read from end to end."""
    read = {name: n for name, n in plans.sequential().items() if n > 1000 and name not in allowed}
    assert not read, f"{read}\n{plans}"
