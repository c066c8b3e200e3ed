"""The worker's view of the stored definitions: commands to run, and what an operator changed of its own types.

Read before the first claim, and again when one changes: a notification says so, and a look every few seconds finds what
no notification told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg

from postmill.domain.encryption import KeyRing
from postmill.domain.errors import PostmillError, SettingsError
from postmill.domain.policy_json import from_json
from postmill.domain.registry import Registry
from postmill.engine.alarm import Alarm
from postmill.engine.command_handlers import Followed, command_handler
from postmill.engine.database import is_outage
from postmill.engine.guarded import Guard
from postmill.engine.link import Link
from postmill.engine.work import Handler
from postmill.store.registration import fingerprint
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import UpkeepFailed

LOOK_EVERY = 10.0  # seconds

Changed = Callable[[Iterable[str]], None]
"""Called with the queues of the commands that this worker knows by now."""

Tell = Callable[[Link], Awaitable[None]]
"""Tells the database what this worker serves by now."""


class Following:
    """Keeps `handlers` as the definitions want them."""

    def __init__(
        self,
        link: Link,
        handlers: dict[str, Handler],
        registry: Registry,
        counters: Counters,
        bus: Bus,
        *,
        ring: KeyRing | None,
        limits: dict[str, int],
        changed: Changed,
        tell: Tell,
    ) -> None:
        self._link = link
        self._orgs = link.sibling("guard")
        self._asking = asyncio.Lock()
        self._handlers = handlers
        self._registry = registry
        self._counters = counters
        self._bus = bus
        self._ring = ring
        self._limits = limits
        self._changed = changed
        self._tell = tell
        self._loading = asyncio.Lock()
        self._alarm = Alarm()
        self._stamp: str | None = None
        self._untold = False  # the database does not know yet what was followed
        self._types = {job_type.name: job_type for job_type in registry}
        self.codes = {job_type.name: fingerprint(job_type) for job_type in registry}
        """What this worker runs, by key: fingerprints of code, versions of commands."""

    def wake(self) -> None:
        """A definition has changed."""
        self._alarm.set()

    async def load(self) -> bool:
        """Read the definitions and follow them; false: nothing has changed.

        Raises:
            SettingsError: one of this worker's own types keeps payloads encrypted, and there are no keys.
            psycopg.Error, OSError: the database is away.
        """
        async with self._loading:
            [(stamp,)] = await self._link.rows("definitions/stamp")
            if stamp == self._stamp:
                return False
            rows = [
                Followed(*row) for row in await self._link.rows("definitions/followed", [list(self._types)])
            ]
            if self._stamp is None:
                self._refuse_without_keys(rows)
            self._follow(rows)
            self._stamp = stamp
            return True

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._alarm.wait(LOOK_EVERY)
            try:
                self._untold |= await self.load()
                if self._untold:
                    await self._tell(self._link)
                    self._untold = False
                # Definitions change rarely: no connection is kept for them.
                await self._link.drop()
                self._link.backoff.reset()
            except (psycopg.Error, OSError) as error:
                if not is_outage(error):
                    self._bus.emit(UpkeepFailed("definitions", str(error)))
                await self._link.pause(error)
                self.wake()

    async def close(self) -> None:
        await self._orgs.drop()

    def _refuse_without_keys(self, rows: list[Followed]) -> None:
        sealed = next((row.key for row in rows if row.encrypted and row.key in self._types), None)
        if sealed is not None and self._ring is None:
            raise SettingsError(
                f"job type {sealed!r} keeps its payloads encrypted, and this worker has no keys: set encryption.keys"
            )

    def _follow(self, rows: list[Followed]) -> None:
        known = {name for name, handler in self._handlers.items() if handler.command is not None}
        for row in rows:
            if row.key in self._types:
                self._own_type(row)
                continue
            handler = self._command(row)
            if handler is not None:
                for name in (row.key, *row.aliases):
                    if name not in self._types:
                        self._handlers[name] = handler
                        known.discard(name)
        for gone in known:
            del self._handlers[gone]
        commands = [handler for handler in self._handlers.values() if handler.command is not None]
        versions = {h.command.key: str(h.command.version) for h in commands if h.command is not None}
        self.codes = {name: fingerprint(job_type) for name, job_type in self._types.items()} | versions
        self._changed(dict.fromkeys(handler.type.queue for handler in commands))

    def _command(self, row: Followed) -> Handler | None:
        """The handler of a command; None where its definition cannot be understood."""
        before = self._handlers.get(row.key)
        if before is not None and before.command is not None and before.command.version == row.version:
            return before
        limit = self._limits.get(row.key, row.worker_limit)
        try:
            made = command_handler(row, self._counters.of(row.key, row.queue), limit, self._guard(row))
        except (PostmillError, ValueError, TypeError) as fault:
            self._bus.emit(UpkeepFailed("definitions", f"definition {row.key!r} cannot be run: {fault}"))
            return None
        if before is not None and before.limit is not None and made.limit is not None:
            # The jobs that run now count on.
            before.limit.share, made.limit = made.limit.share, before.limit
        return made

    def _own_type(self, row: Followed) -> None:
        handler = self._handlers[row.key]
        guarded = row.strict_envelope or row.encrypted
        handler.guard = self._guard(row) if guarded else None
        changes: dict[str, Any] = {}
        if "retry" in row.edited and row.retry is not None:
            changes["retry"] = from_json(json.loads(row.retry))
        if "on_exhausted" in row.edited:
            changes["on_exhausted"] = row.on_exhausted
        if "log_fields" in row.edited:
            changes["log_fields"] = tuple(row.log_fields)
        if "budget" in row.edited:
            changes["budget"] = row.budget
        handler.type = replace(self._types[row.key], **changes) if changes else self._types[row.key]
        handler.budget = handler.type.budget

    def _guard(self, row: Followed) -> Guard:
        return Guard(row.key, row.strict_envelope, self._ring, self._check_org)

    async def _check_org(self, tenant: UUID, project: UUID | None) -> tuple[bool, bool]:
        async with self._asking:
            [(exists, owns)] = await self._orgs.retried("definitions/check_org", [tenant, project])
        return exists, owns
