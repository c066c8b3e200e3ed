"""Figures of job types: how long their attempts ran and waited, and what a run costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Latency:
    """How long attempts ran and waited, in seconds: counts by cell, the last one beyond the last bound.

    Attributes:
        p50, p95, p99: of the runs; None: nothing was measured.
    """

    bounds: tuple[float, ...]
    runs: tuple[int, ...]
    waits: tuple[int, ...]
    p50: float | None
    p95: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class TypeCost:
    """What a run of a type costs: the average of its last `runs`."""

    job_type: str
    unit: str
    per_run: Decimal
    runs: int


@dataclass(frozen=True, slots=True)
class Caller:
    """Where jobs of a type came from, and how many of the newest ones."""

    source: str
    actor_type: str
    actor_id: str
    n: int


@dataclass(frozen=True, slots=True)
class DefinitionHome:
    """Whose queue a definition belongs to, what that promises (seconds), whether it is paused; and its jobs' budget."""

    key: str
    owner: str | None
    contact: str | None
    sla_seconds: float | None
    paused: bool
    budget: str | None


def read_homes(keys: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[dict[str, DefinitionHome]]:
    """Where these definitions are at home."""
    return Statement(
        "read_homes",
        sql("definitions/read_homes", schema),
        (list(keys),),
        lambda rows: {row[0]: DefinitionHome(*row) for row in rows},
    )


def read_latency(job_type: str, since: datetime, *, schema: str = DEFAULT_SCHEMA) -> Statement[Latency]:
    """How long attempts of a type ran and waited since a moment."""
    return Statement(
        "read_latency",
        sql("definitions/read_histogram", schema),
        (job_type, since),
        lambda rows: _latency(rows[0]),
    )


def read_costs(job_types: Sequence[str], *, schema: str = DEFAULT_SCHEMA) -> Statement[list[TypeCost]]:
    """What runs of these types cost lately; types that spend nothing are left out."""
    return Statement(
        "read_costs",
        sql("definitions/read_costs", schema),
        (list(job_types),),
        lambda rows: [TypeCost(row[0], row[1], Decimal(row[2]), row[3]) for row in rows],
    )


def read_callers(job_type: str, *, most: int = 50, schema: str = DEFAULT_SCHEMA) -> Statement[list[Caller]]:
    """Who made the newest jobs of a type, up to so many that are among the last some thousands of all; the most first."""
    return Statement(
        "read_callers",
        sql("definitions/read_callers", schema),
        (job_type, most),
        lambda rows: [Caller(*row) for row in rows],
    )


def _latency(row: Sequence[Any]) -> Latency:
    runs, waits, quantiles, bounds = row
    return Latency(tuple(bounds), tuple(runs or ()), tuple(waits or ()), *quantiles)
