"""Queues, workers and tenants as the console shows them, put together from several reads. For who sees the platform."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from postmill.domain.queue_health import Facts, Health, drain_seconds, health_of, severity_of, worst_share
from postmill.domain.worker_warnings import Session, Warning, warnings_of
from postmill.store import fleet as store
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.fleet import Depth, QueueStanding, TenantStanding
from postmill.store.flow import Flow
from postmill.store.queues import QueueRow, read_queues
from postmill.store.tenants import TenantView
from postmill.store.type_pauses import TypePause, read_type_pauses
from postmill.store.workers import WorkerLoad, WorkerView, read_workers, worker_loads

COUNTED = 10_000
"""Where counts of waiting jobs end: there may be more."""

NOISY = 0.5
"""Share of the fleet's time above which a tenant is noisy, where others wait."""


@dataclass(frozen=True, slots=True)
class QueueCard:
    """A queue with everything that is told of it in a list.

    Attributes:
        health, severity: one word, and how bad it is.
        used: how much of its promises it uses up; 1 is all.
        drain_seconds: until nothing waits at the present rate; None: never.
        top_tenant, top_share: who has the most jobs waiting and running in it, and which share of them.
        pauses: of job types of it.
    """

    row: QueueRow
    standing: QueueStanding
    health: Health
    severity: str
    used: float | None
    drain_seconds: float | None
    top_tenant: str | None
    top_share: float | None
    pauses: list[TypePause]

    @property
    def waiting(self) -> int:
        """Jobs that are due and wait."""
        return self.row.queued or 0


@dataclass(frozen=True, slots=True)
class WorkerCard:
    """A worker session with its warnings.

    Attributes:
        load: what it holds; None: nothing.
        code: eight digits that stand for the code of its job types; None: it has none.
        stale_in: seconds until its lease ends; negative: it ended so long ago.
        replaced: it ended without a word and holds nothing, and a live worker that started since serves one of its queues.
    """

    worker: WorkerView
    load: WorkerLoad | None
    warnings: list[Warning]
    code: str | None
    stale_in: float | None
    replaced: bool = False

    @property
    def stale(self) -> bool:
        """It ended without a word; an HTTP worker always does."""
        return is_stale(self.worker)


@dataclass(frozen=True, slots=True)
class TenantCard:
    """A tenant with what it does. Counts of jobs are None where it is beyond the 200 largest lanes.

    Attributes:
        attained: share of the jobs of this hour and the one before that were done within what their queues promise.
        failure: failed attempts in a hundred that ended or failed, as a share.
        fleet: its share of the time that all jobs ran in these hours.
        noisy: it takes more than half of the fleet's time while jobs of others wait.
        budget, budget_used: its fullest budget.
    """

    tenant: TenantView
    queued: int | None
    running: int | None
    dead: int | None
    attained: float | None
    failure: float | None
    fleet: float | None
    noisy: bool
    budget: str | None
    budget_used: float | None
    standing: TenantStanding | None


def queue_cards(name: str | None = None, *, schema: str = DEFAULT_SCHEMA) -> Flow[list[QueueCard]]:
    """Every queue, or the one of this name; the worst first, then the most urgent."""
    rows: list[QueueRow] = yield read_queues(name, schema=schema)
    standing: dict[str, QueueStanding] = yield store.queue_standing(name, schema=schema)
    depths: list[Depth] = yield store.depths(name, schema=schema)
    pauses: list[TypePause] = yield read_type_pauses(schema=schema)
    cards = [_queue_card(row, standing[row.name], depths, pauses) for row in rows if row.name in standing]
    order = {"critical": 0, "warning": 1, "info": 2}
    return sorted(cards, key=lambda card: (order[card.severity], card.row.priority, card.row.name))


def worker_cards(
    now: datetime, *, seen_within: float = 3600.0, most: int = 500, schema: str = DEFAULT_SCHEMA
) -> Flow[list[WorkerCard]]:
    """Sessions that were seen lately: stale ones first, then others with warnings, those that live, those that ended."""
    workers: list[WorkerView] = yield read_workers(seen_within=seen_within, most=most, schema=schema)
    loads: dict[UUID, WorkerLoad] = yield worker_loads(schema=schema)
    sessions = {one.holder: _session(one) for one in workers}
    live = [one for one in sessions.values() if one.state in ("running", "draining")]
    cards = [
        WorkerCard(
            one,
            loads.get(one.holder),
            warnings_of(sessions[one.holder], live, now),
            _code(one),
            None if one.lease_expires_at is None else (one.lease_expires_at - now).total_seconds(),
            _replaced(one, loads, workers),
        )
        for one in workers
    ]
    cards = [card for card in cards if not _goes_on(card, workers)]
    return sorted(cards, key=_rank)


def worker_card(worker: WorkerView, now: datetime, *, schema: str = DEFAULT_SCHEMA) -> Flow[WorkerCard]:
    """One session beside all that live."""
    others: list[WorkerView] = yield read_workers(seen_within=3600.0, most=500, schema=schema)
    loads: dict[UUID, WorkerLoad] = yield worker_loads(schema=schema)
    live = [one for one in map(_session, others) if one.state in ("running", "draining")]
    stale_in = None if worker.lease_expires_at is None else (worker.lease_expires_at - now).total_seconds()
    warnings = warnings_of(_session(worker), live, now)
    replaced = _replaced(worker, loads, others)
    return WorkerCard(worker, loads.get(worker.holder), warnings, _code(worker), stale_in, replaced)


def tenant_cards(
    tenants: list[TenantView], *, seconds: float = 3600.0, schema: str = DEFAULT_SCHEMA
) -> Flow[list[TenantCard]]:
    """What these tenants do, in their order; what they did in the hour of so many seconds ago, and since."""
    ids = [one.id for one in tenants]
    depths: list[Depth] = yield store.depths(schema=schema)
    standing: dict[UUID, TenantStanding] = yield store.tenant_standing(ids, seconds=seconds, schema=schema)
    budgets: dict[UUID, tuple[str, float | None]] = yield store.budget_shares(ids, schema=schema)
    return [_tenant_card(one, depths, standing.get(one.id), budgets.get(one.id)) for one in tenants]


def busiest(depths: list[Depth], most: int) -> list[str]:
    """Slugs of the tenants with the most jobs waiting and running."""
    return [slug for slug, _ in sorted(_by_tenant(depths).items(), key=lambda it: -it[1])[:most]]


def is_stale(worker: WorkerView) -> bool:
    """It went without a word: lost, or closed by the sweeper."""
    return not worker.http and (worker.state == "lost" or (worker.state == "stopped" and not worker.clean))


def _queue_card(
    row: QueueRow, standing: QueueStanding, depths: list[Depth], pauses: list[TypePause]
) -> QueueCard:
    waiting, running = row.queued or 0, row.running or 0
    own = [one for one in pauses if one.queue == row.name]
    facts = Facts(
        paused=row.paused, types_paused=bool(own), workers=standing.workers, waiting=waiting, running=running,
        slots=standing.slots, oldest=row.oldest_seconds, n=standing.n, wait_p95=standing.wait_p95, run_p95=standing.run_p95,
        total_p95=standing.total_p95, sla=row.sla_seconds, wait_target=row.wait_target_seconds,
        run_target=row.run_target_seconds, burn=row.burn, incident=standing.breach_since is not None,
    )  # fmt: skip
    health = health_of(facts)
    shares = _by_tenant([one for one in depths if one.queue == row.name])
    top = max(shares, key=shares.__getitem__, default=None)
    return QueueCard(
        row=row,
        standing=standing,
        health=health,
        severity=severity_of(health, waiting),
        used=worst_share(facts),
        drain_seconds=drain_seconds(waiting, standing.arrived, standing.ended),
        top_tenant=top,
        top_share=None if top is None else shares[top] / sum(shares.values()),
        pauses=own,
    )


def _by_tenant(depths: list[Depth]) -> dict[str, int]:
    """Jobs that wait and run, by slug."""
    found: dict[str, int] = {}
    for one in depths:
        if one.state in ("queued", "running") and one.tenant not in ("", "other"):
            found[one.tenant] = found.get(one.tenant, 0) + one.n
    return found


def _tenant_card(
    tenant: TenantView,
    depths: list[Depth],
    did: TenantStanding | None,
    budget: tuple[str, float | None] | None,
) -> TenantCard:
    mine = [one for one in depths if one.tenant == tenant.slug]
    unknown = not mine and any(one.tenant == "other" for one in depths)
    counts = {
        state: sum(one.n for one in mine if one.state == state)
        for state in ("queued", "running", "dead_letter")
    }
    fleet = did.run_seconds / did.fleet_seconds if did is not None and did.fleet_seconds else None
    others_wait = any(one.state == "queued" and one.n and one.tenant != tenant.slug for one in depths)
    tried = 0 if did is None else did.ended + did.failed
    return TenantCard(
        tenant=tenant,
        queued=None if unknown else counts["queued"],
        running=None if unknown else counts["running"],
        dead=None if unknown else counts["dead_letter"],
        attained=None if did is None or not did.judged else 1 - did.late / did.judged,
        failure=None if did is None or not tried else did.failed / tried,
        fleet=None if fleet is None else min(fleet, 1.0),
        noisy=fleet is not None and fleet > NOISY and others_wait,
        budget=None if budget is None else budget[0],
        budget_used=None if budget is None else budget[1],
        standing=did,
    )


def _session(worker: WorkerView) -> Session:
    codes = worker.metadata.get("definitions")
    return Session(
        started_at=worker.started_at,
        state=worker.state,
        stale=is_stale(worker),
        version=worker.version,
        build=worker.build,
        codes=codes if isinstance(codes, dict) else {},
        skew_seconds=worker.skew_seconds,
        full_since=worker.full_since,
        draining_since=worker.draining_since,
    )


def _code(worker: WorkerView) -> str | None:
    codes = worker.metadata.get("definitions")
    if not isinstance(codes, dict) or not codes:
        return None
    return sha256(repr(sorted((str(key), str(code)) for key, code in codes.items())).encode()).hexdigest()[:8]


def _rank(card: WorkerCard) -> tuple[bool, bool, bool]:
    wrong = card.stale and not card.replaced
    return not wrong, not card.warnings or card.replaced, card.worker.stopped_at is not None


def _replaced(one: WorkerView, loads: Mapping[UUID, WorkerLoad], workers: Iterable[WorkerView]) -> bool:
    """As the incident of silent workers has it."""
    return (
        is_stale(one)
        and one.holder not in loads
        and any(
            other.state in ("running", "draining")
            and other.started_at > one.last_seen_at
            and not set(other.queues).isdisjoint(one.queues)
            for other in workers
        )
    )


def _goes_on(card: WorkerCard, workers: list[WorkerView]) -> bool:
    """A lost session of a worker that goes on under a new one, and that holds nothing any more."""
    one = card.worker
    return (
        card.load is None
        and is_stale(one)
        and any(o.worker_id == one.worker_id and o.started_at > one.started_at for o in workers)
    )
