"""Postmill's clock, stopped: the database's own, so that every connection and worker sees the same moment."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from postmill import bind, connections
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema, sql
from postmill.store.testing import move_clock


class FrozenClock:
    """Stops Postmill's clock in a test's database, until `thaw` or the end of `with`.

    Delays, schedules, leases and retention go by it; the clocks of Python and of your own tables do not.

    Args:
        dsn: connection string, of a role that owns the schema. Never that of a database in use.
        at: the moment; default: now.
        schema: Postmill's schema.
    """

    def __init__(self, dsn: str, at: datetime | None = None, *, schema: str = DEFAULT_SCHEMA) -> None:
        self._dsn = dsn
        self._at = at
        self._schema = checked_schema(schema)

    def __enter__(self) -> Self:
        self.freeze()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.thaw()

    def freeze(self) -> None:
        """Stop it."""
        with self._connected() as conn:
            conn.execute(sql("schema/freeze", self._schema).encode())
        self._move(self._at, timedelta() if self._at is None else None)

    def thaw(self) -> None:
        """Let it go on."""
        with self._connected() as conn:
            conn.execute(sql("schema/thaw", self._schema).encode())

    def tick(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> datetime:
        """Move it forward; answers where it stands."""
        return self._move(None, timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days))

    def move_to(self, moment: datetime) -> datetime:
        """Set it to a moment, which must have a time zone."""
        if moment.utcoffset() is None:
            raise ValueError("the moment is a datetime without a time zone; give it one")
        return self._move(moment, None)

    @property
    def now(self) -> datetime:
        """Where it stands."""
        return self._move(None, timedelta())

    def _move(self, to: datetime | None, by: timedelta | None) -> datetime:
        with self._connected() as conn:
            moment = bind.run(conn, move_clock(to, by, schema=self._schema))
            conn.execute(sql("upkeep/ensure_partitions", self._schema).encode())
        return moment

    def _connected(self) -> Any:
        return connections.connect(self._dsn, "postmill-test-clock")
