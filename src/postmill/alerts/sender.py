"""Sends what is due on one channel, in order: within its rate, in summaries where much waits, elsewhere where it fails.

One job at a time does this for a channel, so the order of an incident's messages is the order in which they were
written, and what is known of the channel (when it may be used next, how often it failed) is kept in the database and
survives a restart. A message is counted before it is sent and marked after it: where a worker dies in between, or the
service takes it and does not say so, it is sent again, and says so. Every failure counts for the channel, so the number
of repeats is bounded by its `tries`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from postmill.alerts.channel import Channel, Undelivered
from postmill.domain.escalation import Escalation
from postmill.domain.settings_escalation import ChannelSettings
from postmill.store import notifications as store
from postmill.store.notifications import Notice, Standing
from postmill.store.statement import Statement

T = TypeVar("T")
Ask = Callable[[Statement[Any]], Awaitable[Any]]
"""Runs one statement, in a transaction of its own."""

AT_ONCE = 10.0
"""Seconds: what a channel can send singly within so long is sent singly."""

MOST = 25
"""Notices in one summary."""

MOST_IN_DIGEST = 200
"""Notices in one daily digest."""

PROBE = 60.0
"""Seconds between two tries of a channel that does not work."""

LATE = 3600.0
"""Seconds after which what a service asks to wait for is told elsewhere."""

_BACKOFF = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Rested:
    """The channel rests for so many seconds; `why`: a failure, None: its rate."""

    seconds: float
    why: str | None = None


class Sender:
    """One channel. `ask` runs statements; `schema` is where."""

    def __init__(
        self, name: str, channel: Channel, settings: ChannelSettings, plan: Escalation, ask: Ask, schema: str
    ) -> None:
        self._name = name
        self._channel = channel
        self._settings = settings
        self._plan = plan
        self._ask = ask
        self._schema = schema
        self._gap = settings.pace.interval

    async def drain(self, patience: float) -> Rested | None:
        """Sends for `patience` seconds at most. None: nothing is left; else when to go on.

        Raises:
            psycopg.Error: the database went away; what was sent and not marked is sent again.
        """
        deadline = monotonic() + patience
        while True:
            now: Standing = await self._ask(store.standing(self._name, schema=self._schema))
            if not now.due:
                return None
            if now.failing and now.wait > 0:
                return await self._elsewhere(now.wait)
            if now.wait > 0:
                if monotonic() + now.wait > deadline:
                    return Rested(now.wait)
                await asyncio.sleep(now.wait)
                continue
            rested = await self._send(now)
            if rested is not None:
                return rested
            if monotonic() >= deadline:
                return Rested(self._gap)

    async def _send(self, now: Standing) -> Rested | None:
        notices: list[Notice] = await self._ask(
            store.due_notifications(self._name, self._size(now), schema=self._schema)
        )
        ids = [notice.id for notice in notices]
        await self._ask(store.begin_sending(ids, schema=self._schema))
        try:
            await self._channel.send(notices)
        except Undelivered as fault:
            return await self._failed(now, notices, fault)
        await self._ask(store.note_sent(self._name, ids, self._gap, schema=self._schema))
        return None

    def _size(self, now: Standing) -> int:
        """How many go into the next message."""
        if not self._channel.sums_up or now.failing:
            return 1
        if self._settings.digest is not None:
            return MOST_IN_DIGEST
        return MOST if now.due > max(1.0, AT_ONCE / self._gap) else 1

    async def _failed(self, now: Standing, notices: Sequence[Notice], fault: Undelivered) -> Rested | None:
        """Rest and try again; or, after so many failures, tell it elsewhere."""
        ids, why = [notice.id for notice in notices], str(fault)
        if fault.of_message:
            await self._refused(ids, why)
            return None
        late = (now.late or 0.0) > LATE
        counts = fault.wait is None or late
        wait = fault.wait if fault.wait is not None else _BACKOFF[min(now.failures, len(_BACKOFF) - 1)]
        failures: int = await self._ask(
            store.note_unsent(self._name, ids, why, wait, counts=counts, schema=self._schema)
        )
        if fault.again and failures < self._settings.tries and not now.failing:
            return Rested(wait, why)
        await self._ask(store.note_unsent(self._name, ids, why, PROBE, counts=False, schema=self._schema))
        await self._ask(store.note_failing(self._name, why, schema=self._schema))
        return await self._elsewhere(PROBE, why)

    async def _refused(self, ids: Sequence[UUID], why: str) -> None:
        """A message that is refused for good goes elsewhere, if there is such a place; the next ones need not wait."""
        await self._ask(store.note_unsent(self._name, ids, why, self._gap, counts=False, schema=self._schema))
        other = await self._other()
        if other is None:
            await self._ask(store.fail_notifications(ids, schema=self._schema))
        else:
            await self._ask(store.move_notifications(self._name, other, ids, schema=self._schema))

    async def _elsewhere(self, wait: float, why: str | None = None) -> Rested | None:
        """Hand over what is due; where there is nobody else it stays here, so that it is not lost."""
        other = await self._other()
        if other is None:
            return Rested(wait, why or "it does not work, and there is no other channel")
        await self._ask(store.move_notifications(self._name, other, schema=self._schema))
        return None

    async def _other(self) -> str | None:
        failing: list[str] = await self._ask(store.failing_channels(schema=self._schema))
        return self._plan.fallback(self._name, failing)

    async def close(self) -> None:
        """Lets go of the channel's connections."""
        with contextlib.suppress(Exception):
            await self._channel.close()
