"""Writes what was counted, every few seconds and at the end."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

import orjson
import psycopg

from postmill.engine.counting import Counting
from postmill.engine.database import is_conflict, is_outage
from postmill.engine.link import Link
from postmill.engine.session import Session

EVERY = 5.0  # seconds between two writes: so much a killed worker takes along

_BATCHES_AT_MOST = 120  # kept through an outage: ten minutes

_log = logging.getLogger("postmill.engine")


class Bookkeeper:
    """One loop. A batch has a number within its session, so that one whose answer was lost is counted once."""

    def __init__(self, link: Link, counting: Counting, session: Callable[[], Session | None]) -> None:
        self._link = link
        self._counting = counting
        self._session = session
        self._number = 0
        self._waiting: deque[tuple[Session, int, str, str]] = deque(maxlen=_BATCHES_AT_MOST)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            await self.write()

    async def write(self) -> None:
        """Write what was counted so far. An outage keeps it for the next time."""
        rollups, errors = self._counting.take()
        session = self._session()
        if (rollups or errors) and session is not None:
            self._number += 1
            self._waiting.append(
                (session, self._number, orjson.dumps(rollups).decode(), orjson.dumps(errors).decode())
            )
        while self._waiting:
            session, number, rows, failures = self._waiting[0]
            try:
                await self._link.rows("report/add_counts", [session.holder, number, rows, failures])
            except (psycopg.Error, OSError) as error:
                if is_outage(error) or is_conflict(error):
                    return
                _log.warning("statistics of %d bytes could not be written: %s", len(rows), error)
            self._waiting.popleft()
