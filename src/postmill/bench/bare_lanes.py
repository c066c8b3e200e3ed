"""Which lanes the bare loop claims from: at most twenty at a time, in turn, each from its own head cursor."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

WIDE = 20
Lane = tuple[bytes, bytes | None]


class BareLanes:
    """A ring of lanes with work. One lane alone gives whole batches."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._ring: deque[Lane] = deque()
        self._asked: list[tuple[Lane, int]] = []

    @property
    def hungry(self) -> bool:
        """No lane is known to have work."""
        return not self._ring

    def found(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take over what a discovery saw: (queue, lane, priority) each."""
        self._ring = deque((row[1], None) for row in rows)

    def plan(self) -> tuple[list[bytes], list[bytes | None], list[int]]:
        """Lanes, where to begin in each, and how many to take from each."""
        wide = min(len(self._ring), WIDE)
        each = -(-self._batch // wide) if wide else 0
        self._asked = [(self._ring.popleft(), each) for _ in range(wide)]
        lanes = [lane for (lane, _), _ in self._asked]
        return lanes, [start for (_, start), _ in self._asked], [each] * wide

    def taken(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """What the claim brought, as (slot from 1, key). A lane that gave less than asked leaves the ring."""
        counts = [0] * len(self._asked)
        last: list[bytes | None] = [None] * len(self._asked)
        for slot, key in rows:
            counts[slot - 1] += 1
            last[slot - 1] = key
        for ((lane, _), each), count, end in zip(self._asked, counts, last, strict=True):
            if count >= each:
                self._ring.append((lane, end))
