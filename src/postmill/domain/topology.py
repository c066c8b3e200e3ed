"""Parents before children, or the circle that forbids it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter


def in_order(parents: Mapping[str, Iterable[str]]) -> tuple[list[str], list[str]]:
    """The names, parents first, and no circle; or nothing, and the names of one circle, each waiting for the next."""
    try:
        return list(TopologicalSorter(parents).static_order()), []
    except CycleError as error:
        return [], list(reversed(error.args[1]))
