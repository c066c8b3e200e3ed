"""Hands pings on to all streams of this process: one connection that listens, the rest in memory.

Notifications are hints. Pages ask by themselves now and then, and more often while this one hears nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from time import monotonic
from uuid import UUID, uuid4

import psycopg
from psycopg_pool import PoolTimeout

from postmill.api.backend import Backend
from postmill.bind import arun
from postmill.console.live.stream import DOWN, UP, Stream
from postmill.console.live.topics import ACTED, MANY, PLATFORM, ended_in, pings_of
from postmill.engine.listener import Listener
from postmill.store.live import watch_live
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters

WATCH = 60.0
"""Seconds for which the database is told that somebody watches; it is told anew in a third of that."""


MOST = 20_000
"""Topics of scopes whose last ping is remembered."""


class Full(Exception):
    """So many streams are open that there are to be no more of this user, or of all."""


class Hub:
    """The streams of one server process. Listens while there are some, and a little longer.

    Args:
        bus: is told when the listener is lost and restored.
        per_user, most: how many streams one actor, and all together, may have open.
        gap: seconds between two pings about the same topic, at least.
        heartbeat: seconds after which a stream without pings sends a comment, so that no proxy takes it for dead.
        recheck: seconds between two looks whether the login of a stream still holds.

    Attributes:
        acted: called when somebody has done something, which may be that a login ended.
    """

    def __init__(
        self,
        bus: Bus,
        *,
        per_user: int = 8,
        most: int = 1000,
        gap: float = 1.0,
        heartbeat: float = 15.0,
        recheck: float = 60.0,
    ) -> None:
        self.gap = gap
        self.heartbeat = heartbeat
        self.recheck = recheck
        self.listening = False
        self.heard_at = 0.0
        self.acted: Callable[[], None] = lambda: None
        self.closing = False
        self.streams: set[Stream] = set()
        self._bus = bus
        self._per_user = per_user
        self._most = most
        self._numbers = itertools.count(1)
        self._deaf_until = 0.0
        self._heard: dict[tuple[str, str], float] = {}
        self._pending: set[tuple[str, str]] = set()
        self._restored = asyncio.Event()
        self._flushing: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def joined(
        self, actor: str, tenant: UUID | None, backend: Backend, home: UUID | None = None
    ) -> AsyncIterator[Stream]:
        """A stream of this actor, for as long as it is open; `home`: the tenant whose login it is, None: the platform's.

        Raises:
            Full: too many are open.
        """
        held = Counter(stream.actor for stream in self.streams)
        if self.closing or len(self.streams) >= self._most or held[actor] >= self._per_user:
            raise Full
        stream = Stream(actor, tenant, home)
        stream.say(UP if self.listening else DOWN, next(self._numbers))
        self.streams.add(stream)
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(backend), name="console live hub")
        try:
            yield stream
        finally:
            self.streams.discard(stream)

    def unchanged(self, since: float) -> bool:
        """Whether changes would have been heard of, and none were since a moment of the monotonic clock."""
        return self.listening and self.heard_at < since

    def quiet(self, topics: Collection[str], scope: str, since: float) -> bool:
        """The same of some topics of a scope: `ops`, or a tenant's id."""
        if not self.listening or self._deaf_until >= since:
            return False
        told = [(topic, scope) for topic in topics]
        if scope != PLATFORM:
            told += [(topic, MANY) for topic in topics]
        return all(self._heard.get(one, 0.0) < since for one in told)

    def heard(self, notification: str) -> None:
        """A notification came."""
        self.heard_at = monotonic()
        ended = ended_in(notification)
        if ended is not False:
            self.look_again(None if ended is True else ended)
        pings = pings_of(notification)
        if ended is not False or any(topic == ACTED for topic, _ in pings):
            self.acted()
        self._remember(pings)
        self._pending.update(pings)
        if self._pending and (self._flushing is None or self._flushing.done()):
            self._flushing = asyncio.create_task(self._flush(), name="console live pings")

    def _remember(self, pings: Collection[tuple[str, str]]) -> None:
        self._heard.update(dict.fromkeys(pings, self.heard_at))
        if len(self._heard) > MOST:  # of more tenants than anybody looks at: as if none had been heard of
            self._heard.clear()
            self._deaf_until = self.heard_at

    def look_again(self, home: UUID | None) -> None:
        """A login of this tenant's people, or of the platform's, has ended: does each stream of theirs still hold?"""
        self.acted()  # here at once; elsewhere when it is heard of
        for stream in self.streams:
            if stream.home == home:
                stream.doubt()

    async def _flush(self) -> None:
        """The first of a topic at once; what comes meanwhile, a second later and once."""
        while self._pending:
            pending, self._pending = self._pending, set()
            n = next(self._numbers)
            for topic, scope in pending:
                for stream in self.streams:
                    stream.put(topic, scope, n)
            await asyncio.sleep(self.gap)

    def _state(self, listening: bool) -> None:
        self.listening = listening
        self.heard_at = self._deaf_until = monotonic()  # what was said meanwhile, nobody heard
        if listening:
            self._restored.set()
        n = next(self._numbers)
        for stream in self.streams:
            stream.say(UP if listening else DOWN, n)

    async def _keep(self, backend: Backend) -> None:
        """Listens, and says that somebody watches, until nobody has for a while."""
        server = uuid4()
        settings = backend.settings
        listener = None
        if settings.notify and settings.listen_dsn is not None:
            channel = f"{settings.schema_name}_live"
            ear = Listener(settings.listen_dsn, channel, self.heard, self._state, self._bus, Counters())
            listener = asyncio.create_task(ear.run(), name="console live listener")
        idle = 0
        try:
            while idle < 3:
                self._restored.clear()
                await self._watch(backend, server, WATCH)
                # After an outage at once: what was said before may be over, or was said to a server that is gone.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(WATCH / 3):
                        await self._restored.wait()
                idle = 0 if self.streams else idle + 1
        finally:
            if listener is not None:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)
            self.listening = False
            await self._watch(backend, server, 0)

    async def _watch(self, backend: Backend, server: UUID, seconds: float) -> None:
        # Without the database there is nothing to be told of: pages that poll see that by themselves.
        with contextlib.suppress(psycopg.Error, PoolTimeout, OSError):
            async with backend.pool.connection() as conn:
                await arun(conn, watch_live(server, seconds, schema=backend.schema))

    def send_home(self) -> None:
        """This server ends: every stream ends now, and browsers come back to whoever serves then."""
        self.closing = True
        for stream in self.streams:
            stream.close()

    async def close(self) -> None:
        """The end. Before the pool is closed."""
        self.send_home()
        tasks = [task for task in (self._keeping, self._flushing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
