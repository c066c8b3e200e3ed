"""Stored definitions of kind `http` as the outcomes of their jobs follow them."""

from __future__ import annotations

from typing import Any

from postmill.domain.encryption import KeyRing
from postmill.domain.errors import PostmillError
from postmill.engine.command_handlers import Followed, stored_type
from postmill.engine.guarded import CheckOrg, Guard
from postmill.engine.stored_type import StoredType
from postmill.engine.work import Handler
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import UpkeepFailed


class Handlers:
    """Makes handlers from rows of definitions, for one request."""

    def __init__(self, counters: Counters, bus: Bus, ring: KeyRing | None, check_org: CheckOrg) -> None:
        self._counters = counters
        self._bus = bus
        self._ring = ring
        self._check_org = check_org

    def of(self, rows: list[tuple[Any, ...]]) -> dict[str, tuple[Handler, str]]:
        """Handler and argument schema by each name that jobs of these definitions may have."""
        made: dict[str, tuple[Handler, str]] = {}
        for row in (Followed(*row) for row in rows):
            handler = self._handler(row)
            for name in (*row.aliases, row.key):
                made[name] = handler, row.arg_schema
        return made

    def unknown(self, name: str, queue: str) -> Handler:
        """For a job whose definition is gone, or is of another kind by now: the default policies."""
        return Handler(StoredType.of(name or "unknown", queue=queue), self._counters.of(name, queue), None)

    def _handler(self, row: Followed) -> Handler:
        try:
            made = Handler(stored_type(row, row.worker_limit), self._counters.of(row.key, row.queue), None)
        except (PostmillError, ValueError, TypeError) as fault:
            self._bus.emit(UpkeepFailed("definitions", f"definition {row.key!r} cannot be followed: {fault}"))
            made = self.unknown(row.key, row.queue)
        made.guard = Guard(row.key, row.strict_envelope, self._ring, self._check_org)
        return made
