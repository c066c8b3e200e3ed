"""What was denied goes into the audit log: the first time, and then once a minute with the number of those between."""

from __future__ import annotations

from time import monotonic

from postmill.domain.access import Principal

EVERY = 60.0
MOST = 10_000


class Denials:
    """Keeps a client that asks a thousand times a second from filling the log."""

    def __init__(self, every: float = EVERY) -> None:
        self._every = every
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def due(self, principal: Principal, action: str) -> int | None:
        """None: not now. Else a row is due, and says how many were left out since the last one."""
        key = (principal.actor_id, action)
        now = monotonic()
        at, left_out = self._last.get(key, (-self._every, 0))
        if now - at < self._every:
            self._last[key] = (at, left_out + 1)
            return None
        if len(self._last) >= MOST:
            self._last.clear()
        self._last[key] = (now, 0)
        return left_out
