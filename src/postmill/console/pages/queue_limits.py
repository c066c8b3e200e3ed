"""What limits a queue, who has which share of it, and words for how it does."""

from __future__ import annotations

from dataclasses import dataclass

from postmill.console.frame.words import _
from postmill.console.pages import queue_rules
from postmill.console.pages.queue_rules import Rule
from postmill.domain.queue_health import Health
from postmill.operate.commands import Moved
from postmill.operate.fleet import QueueCard
from postmill.store.fleet import Depth, TenantInQueue
from postmill.store.flow import Flow
from postmill.store.moving import Batch


@dataclass(frozen=True, slots=True)
class Share:
    """A tenant's part in a queue: what would be fair by weights among those that have work, and what it got."""

    slug: str
    weight: int
    fair: float
    got: float | None
    waiting: int
    running: int
    arrived: int
    ended: int
    failed: int
    wait_average: float | None
    oldest_seconds: float | None


@dataclass(frozen=True, slots=True)
class SomeMoved:
    """How many jobs were moved, and whether there are more."""

    n: int
    more: bool


def health_words() -> dict[str, str]:
    """The words of the design."""
    return {
        Health.NO_WORKERS: _("no workers"),
        Health.BREACH: _("breach"),
        Health.PAUSED: _("paused"),
        Health.PARTLY_PAUSED: _("partly paused"),
        Health.AT_RISK: _("at risk"),
        Health.AT_CAPACITY: _("at capacity"),
        Health.WITHIN_SLA: _("within SLA"),
        Health.BEST_EFFORT: _("best effort"),
    }


def binding(card: QueueCard, rules: list[Rule] | None) -> list[str]:
    """Which limits hold jobs back right now, in words; none: nothing does."""
    told = [_("the pause of %s") % one.job_type for one in card.pauses]
    if not card.waiting:
        return told
    running, slots = card.row.running or 0, card.standing.slots
    if card.row.paused:
        told.append(_("the pause: nothing is handed out"))
    if not card.standing.workers:
        told.append(_("no worker claims from it"))
    elif slots and running >= slots:
        told.append(_("the slots of its workers: %(running)d of %(slots)d are taken") % {
            "running": min(running, slots), "slots": slots})  # fmt: skip
    told += queue_rules.binding(rules or [])
    return told


def fairness(tenants: list[TenantInQueue], depths: list[Depth]) -> list[Share]:
    """Who has how much of the queue: everybody who was active lately, or waits now."""
    now: dict[str, dict[str, Depth]] = {}
    for depth in depths:
        now.setdefault(depth.tenant, {})[depth.state] = depth
    total = sum(one.run_seconds for one in tenants)
    weights = sum(one.weight for one in tenants)
    shares = []
    for one in tenants:
        slug = one.slug or str(one.tenant_id)
        here = now.pop(slug, {})
        shares.append(Share(
            slug, one.weight, one.weight / weights if weights else 0.0, one.run_seconds / total if total else None,
            *_depths(here), one.arrived, one.ended, one.failed, one.wait_average, _oldest(here)))  # fmt: skip
    for slug, here in sorted(now.items()):
        if slug not in ("", "other") and any(_depths(here)):
            shares.append(Share(slug, 1, 0.0, None, *_depths(here), 0, 0, 0, None, _oldest(here)))
    return shares


def first_batches(flow: Flow[Moved], most: int) -> Flow[SomeMoved]:
    """A move that stops after so many statements: a request must not take for ever."""
    moved, batches, answer = 0, 0, None
    while True:
        try:
            step = flow.send(answer)
        except StopIteration:
            return SomeMoved(moved, False)
        if batches >= most:
            flow.close()
            return SomeMoved(moved, True)
        answer = yield step
        if isinstance(answer, Batch):
            moved += answer.moved
            batches += 1


def _depths(here: dict[str, Depth]) -> tuple[int, int]:
    queued, running = (here[state].n if state in here else 0 for state in ("queued", "running"))
    return queued, running


def _oldest(here: dict[str, Depth]) -> float | None:
    return here["queued"].oldest_seconds if "queued" in here else None
