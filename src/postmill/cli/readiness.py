"""Before a worker starts: its database must be there, with a schema that this version can work on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import psycopg

from postmill import connections
from postmill.cli.database import described, normalized
from postmill.cli.text import one_line
from postmill.client.address import not_running
from postmill.domain.errors import DatabaseMissing
from postmill.schema.check import acheck

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0

# Waiting does not help against these: FATAL errors of a server that answers. libpq gives no SQLSTATE while it
# connects, so the words must do; a server in another language is waited for, which is only slower to complain.
_HOPELESS = ("does not exist", "authentication failed", "no pg_hba.conf entry", "not permitted to log in")


class DatabaseWatch:
    """Waits for the database of a worker that was started before it. `drain` ends the wait."""

    def __init__(self, dsn: str, schema: str, told: Callable[[str], object]) -> None:
        self._dsn = dsn
        self._schema = schema
        self._told = told
        self._stopped = asyncio.Event()

    def drain(self) -> None:
        """Wait no longer."""
        self._stopped.set()

    abort = drain

    async def ready(self) -> bool:
        """True once the database answers and its schema is fit; False if the wait was ended.

        Raises DatabaseMissing where waiting cannot help, SchemaMissing, SchemaTooOld, SchemaTooNew.
        """
        pause = FIRST_PAUSE
        told = False
        while not self._stopped.is_set():
            try:
                await self._look()
                return True
            except psycopg.OperationalError as fault:
                reason = one_line(fault, 300)
                if any(words in str(fault) for words in _HOPELESS):
                    raise DatabaseMissing(
                        f"cannot connect to database {described(self._dsn)}: {reason}"
                    ) from None
                if not told:
                    said = not_running(self._dsn, fault)
                    said = said or f"database {described(self._dsn)} is not reachable yet"
                    self._told(f"{said}; waiting ({reason})")
                    told = True
            try:
                await asyncio.wait_for(self._stopped.wait(), pause * random.uniform(0.75, 1.25))
            except TimeoutError:
                pause = min(pause * 1.5, LONGEST_PAUSE)
        return False

    async def _look(self) -> None:
        conn = await connections.aconnect(normalized(self._dsn), "postmill start")
        async with conn:
            (await acheck(conn, self._schema)).require()
