"""The limit of a pick-up: one loop that lies down, is rung and claims, with the worker's own SQL and nothing else.

`python -m postmill.bench.pickup_child`.
"""

from __future__ import annotations

import json
import os
import select
import sys
from time import perf_counter
from typing import Any

import orjson

from postmill.bench import wire
from postmill.bench.jobs import QUEUE
from postmill.domain.lane import DEFAULT_TENANT
from postmill.engine.database import connect_blocking
from postmill.engine.raw import Ids, Instants, Longs
from postmill.engine.session import Session
from postmill.engine.work import ID, PAYLOAD, TENANT
from postmill.store.catalog import sql

LOOK_EVERY = 0.1
"""Seconds until it looks unasked, at its input too: a ring may fall between the look and the sleep."""

MOST = 10


class PickUp:
    """Picks up jobs and tells number and moment of each."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._schema: str = order["schema"]
        self._session = Session(86400.0)
        self._work = connect_blocking(order["dsn"], "bench claim")
        self._listener = connect_blocking(order["dsn"], "bench listener")

    def run(self) -> None:
        """Until the parent says stop."""
        self._listener.execute(f"listen {self._schema}".encode())
        session = self._session
        who = [session.holder, session.lease, f"bench:{os.getpid()}", "bench", os.getpid(), ""]
        self._rows("leases/open_session", *who, [QUEUE], json.dumps({QUEUE: MOST}), [], "{}", None)
        wire.tell(ready=True)
        while not _told_to_stop():
            self._rows("doorbell/doze", session.holder, [QUEUE], 3600.0)
            while self._claim():
                pass
            for _ in self._listener.notifies(timeout=LOOK_EVERY, stop_after=1):
                self._claim()
        self._rows("leases/close_session", session.holder, "{}")
        self._work.close()
        self._listener.close()
        wire.tell(ended=True)

    def _claim(self) -> int:
        session, lane = self._session, DEFAULT_TENANT.bytes
        claim_no = session.next_claim()
        where = [[QUEUE], Ids([lane]), [100], Instants([None]), [MOST], True]
        rows = self._rows("claim/claim_jobs", session.holder, claim_no, MOST, *where)
        at = perf_counter()
        if rows:
            wire.tell(starts=[(_number(row[PAYLOAD]), at) for row in rows])
            numbers, ones = Longs([claim_no] * len(rows)), Longs([1] * len(rows))
            ids, tenants = Ids([row[ID] for row in rows]), Ids([row[TENANT] for row in rows])
            self._rows("report/complete", session.holder, ids, numbers, tenants, ones, None, None, None)
        return len(rows)

    def _rows(self, path: str, *args: object) -> list[tuple[Any, ...]]:
        cursor = self._work.cursor(binary=True)
        return cursor.execute(sql(path, self._schema).encode(), args, prepare=True).fetchall()


def _number(payload: bytes) -> int:
    number: int = orjson.loads(payload[1:])["number"]
    return number


def _told_to_stop() -> bool:
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(readable) and os.read(sys.stdin.fileno(), 4096) != b"go\n"


if __name__ == "__main__":
    PickUp(wire.order()).run()
