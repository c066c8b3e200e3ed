"""Dividing what belongs to a `postmill worker` command over its processes."""

from __future__ import annotations


def share_of(total: int, processes: int, index: int) -> int:
    """Slots or permits of process number `index` (from 0): 10 over 3 are 4, 3 and 3; 1 over 2 is 1 and 0."""
    return total // processes + (1 if index < total % processes else 0)
