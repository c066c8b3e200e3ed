"""A worker session: the holder of a lease and the counter that fences its claims."""

from __future__ import annotations

import time
import uuid


class Session:
    """Lives from the opening of a lease to its end. A worker whose lease was lost goes on with a new one."""

    __slots__ = ("_claim_no", "holder", "in_doubt", "lease", "lost", "renewed_at")

    def __init__(self, lease: float) -> None:
        self.holder = uuid.uuid4()
        self.lease = lease
        self.lost = False
        self.renewed_at = time.monotonic()
        self._claim_no = 0
        # Claims whose answer never came: their tickets would run under a live lease with nobody running them.
        self.in_doubt: dict[int, float] = {}

    def next_claim(self) -> int:
        self._claim_no += 1
        return self._claim_no

    @property
    def expired(self) -> bool:
        """By this process's clock, counted from before the last renewal was sent: never later than the server's."""
        return time.monotonic() > self.renewed_at + self.lease
