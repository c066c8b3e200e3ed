"""The jobs of all cases: they do nothing, so that what is measured is what surrounds them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from postmill.domain.job_type import JobType, job
from postmill.domain.registry import Registry

QUEUE = "bench"
PAYLOAD_BYTES = 100

STARTS: list[tuple[int, float]] = []
"""What `stamp` noted: number and moment, on the clock that all processes of a machine share."""


@job("bench.noop", queue=QUEUE)
async def noop(data: str) -> None:
    """Does nothing; leaves history."""


@job("bench.noop_lean", queue=QUEUE, keep="failures")
async def noop_lean(data: str) -> None:
    """Does nothing; leaves a count."""


@job("bench.stamp", queue=QUEUE)
async def stamp(number: int) -> None:
    """Notes when it was started."""
    STARTS.append((number, perf_counter()))


REGISTRY = Registry([noop, noop_lean, stamp])
DATA = "x" * (PAYLOAD_BYTES - len('{"data":""}'))
PAYLOAD = noop.new(data=DATA).payload


def noop_for(keep: str) -> JobType[..., ..., Any]:
    """The job that does nothing, by what its definition keeps: `all` or `failures`."""
    return noop_lean if keep == "failures" else noop
