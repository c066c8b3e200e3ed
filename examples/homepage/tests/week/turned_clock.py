"""One clock for all sessions of a test's server, open ones included: it is turned, and goes on from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from psycopg import Connection, connect
from psycopg.sql import SQL, Literal

from postmill.local.server import LocalServer
from tests.support.eventually import eventually

READ = "select current_setting('postmill.clock_offset', true)"


class TurnedClock:
    """Turns `postmill.clock_offset` in the settings of the server, which every session reads again when it is told to."""

    def __init__(self, conn: Connection[Any]) -> None:
        self._conn = conn

    def now(self) -> datetime:
        """What it says."""
        [[moment]] = self._conn.execute("select postmill.now()").fetchall()
        assert isinstance(moment, datetime)
        return moment

    def turn(self, moment: datetime) -> None:
        """From now on it is that moment."""
        [[offset]] = self._conn.execute(
            "select extract(epoch from %s - clock_timestamp())", [moment]
        ).fetchall()
        self._set(SQL("alter system set postmill.clock_offset = {}").format(Literal(f"{offset} s")))
        eventually(lambda: self._read() == f"{offset} s", what="a server that has read its settings")

    def back(self) -> None:
        """The machine's clock again, for the tests that come after this one."""
        self._set(SQL("alter system reset postmill.clock_offset"))
        eventually(lambda: not self._read(), what="a server that has read its settings")

    def _set(self, command: Any) -> None:
        self._conn.execute(command)
        self._conn.execute("select pg_reload_conf()")

    def _read(self) -> str | None:
        [[found]] = self._conn.execute(READ).fetchall()
        assert found is None or isinstance(found, str)
        return found


@contextmanager
def turned_clock(server: LocalServer, database: str) -> Iterator[TurnedClock]:
    """The clock of a server. At the end it is the machine's again."""
    with connect(server.dsn(database), autocommit=True) as conn:
        clock = TurnedClock(conn)
        try:
            yield clock
        finally:
            clock.back()
