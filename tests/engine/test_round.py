"""The pace of upkeep: what a round has cost puts the next one off, and never for long."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest

from postmill.engine.upkeep.rescuer import Rescuer
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters


class Stalled(Round):
    """Its rounds wait for something, as for a lock, or for their process to be let on."""

    name = "stalled"
    every = 0.01

    def __init__(self, seconds: float) -> None:
        super().__init__(cast(Any, None), Bus(), "w")
        self._seconds = seconds
        self.naps: list[float] = []

    async def once(self) -> float | None:
        raise NotImplementedError

    async def guarded(self) -> float | None:
        time.sleep(self._seconds)
        return None

    async def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        raise asyncio.CancelledError


async def nap_after(seconds: float, longest: float | None = None) -> float:
    """How long a round rests that took so long."""
    made = Stalled(seconds)
    if longest is not None:
        made.longest = longest
    with pytest.raises(asyncio.CancelledError):
        await made.run()
    return made.naps[0]


async def test_a_dear_round_rests_as_its_share_says() -> None:
    assert 0.9 < await nap_after(0.02) < 3.0


async def test_a_stalled_round_rests_no_longer_than_it_may() -> None:
    """Not fifty times as long as it was stalled, for which a dead worker's jobs would wait."""
    assert await nap_after(0.1, longest=0.5) == 0.5


def test_who_rescues_looks_again_within_a_lease() -> None:
    made = Rescuer(cast(Any, None), Bus(), "w", lambda: None, 5.0, Counters("w"))
    assert made.longest == 2.5
