"""How a queue does, in one word, with why. Source: the design of the console, page 9."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AT_RISK = 0.8
"""Share of a target from which on a queue is at risk."""

FEW = 5
"""Jobs below which a P95 says nothing: one late job is none."""


class Health(StrEnum):
    """From the worst to the best. `partly paused`: a job type of it is. `best effort`: nothing is promised, and
    nothing is wrong."""

    NO_WORKERS = "no_workers"
    BREACH = "breach"
    PAUSED = "paused"
    PARTLY_PAUSED = "partly_paused"
    AT_RISK = "at_risk"
    AT_CAPACITY = "at_capacity"
    WITHIN_SLA = "within_sla"
    BEST_EFFORT = "best_effort"


SEVERITY = {
    Health.NO_WORKERS: "critical",
    Health.BREACH: "critical",
    Health.PAUSED: "warning",
    Health.PARTLY_PAUSED: "warning",
    Health.AT_RISK: "warning",
    Health.AT_CAPACITY: "warning",
    Health.WITHIN_SLA: "info",
    Health.BEST_EFFORT: "info",
}
"""How bad each is; `no_workers` where nothing waits is info."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a queue. Lengths in seconds; None: not promised, or not measured."""

    paused: bool = False
    types_paused: bool = False
    workers: int = 0
    waiting: int = 0
    running: int = 0
    slots: int = 0
    oldest: float | None = None
    n: int = 0
    wait_p95: float | None = None
    run_p95: float | None = None
    total_p95: float | None = None
    sla: float | None = None
    wait_target: float | None = None
    run_target: float | None = None
    burn: float | None = None
    incident: bool = False


def health_of(facts: Facts) -> Health:
    """The word. Paused comes first, for then nothing else is to be expected; then what is worst."""
    if facts.paused:
        return Health.PAUSED
    if not facts.workers:
        return Health.NO_WORKERS
    promised = any(one is not None for one in (facts.sla, facts.wait_target, facts.run_target))
    used = worst_share(facts)
    if promised and (facts.incident or (used is not None and used > 1)):
        return Health.BREACH
    if facts.types_paused:
        return Health.PARTLY_PAUSED
    if promised and ((used is not None and used > AT_RISK) or (facts.burn is not None and facts.burn > 1)):
        return Health.AT_RISK
    if facts.slots and facts.running >= facts.slots and facts.waiting:
        return Health.AT_CAPACITY
    return Health.WITHIN_SLA if promised else Health.BEST_EFFORT


def severity_of(health: Health, waiting: int) -> str:
    """info, warning or critical."""
    return "info" if health is Health.NO_WORKERS and not waiting else SEVERITY[health]


def worst_share(facts: Facts) -> float | None:
    """How much of its targets a queue uses up: the largest of its shares; None: nothing is promised, or measured."""
    pairs = [(facts.oldest, facts.sla)]
    if facts.n >= FEW:
        pairs += [
            (facts.total_p95, facts.sla),
            (facts.wait_p95, facts.wait_target),
            (facts.run_p95, facts.run_target),
        ]
    return max((now / target for now, target in pairs if now is not None and target), default=None)


def drain_seconds(waiting: int, arrived: float, ended: float) -> float | None:
    """How long until nothing waits, at the present rates (jobs a minute); None: never, it grows or stands still."""
    if not waiting:
        return 0.0
    return waiting / (ended - arrived) * 60 if ended > arrived else None
