"""Workers: list and detail; drain, resume, stop, and the rescue of what lost ones held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.responses import RedirectResponse, Response

from postmill.console.charts import Row, Span, gauge, timeline
from postmill.console.frame import durations
from postmill.console.frame.arguments import as_id
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _, many
from postmill.domain.access import Action
from postmill.domain.query_words import written
from postmill.domain.worker_warnings import Warning
from postmill.operate import fleet, workers
from postmill.operate.fleet import WorkerCard
from postmill.store import fleet as store
from postmill.store.console import tenant_slugs
from postmill.store.workers import Asked, EndedJob, HeldJob, WorkerView, ended_jobs, held_jobs

router = Pages()

SEEN = {"1h": 3600.0, "24h": 86400.0, "30d": 30 * 86400.0}
"""Of which workers the list tells, by when they were seen last."""

IN_STEP = 0.05
"""Seconds by which clocks of machines in one room differ."""

SHOWN_SPANS = 30
"""Jobs of the timeline at most."""


@router.page("/workers", Action.WORKERS_READ, tenant=False)
async def list_(visit: Visit) -> Response:
    """Worker sessions, the worst first; `?worker=` leads to the latest one of that name."""
    seen = visit.args.one_of("seen", [*SEEN], "1h")
    state = visit.args.one_of("state", ("running", "draining", "stale", "stopped"), None)
    queue, build = visit.args.text("queue", None), visit.args.text("build", None)
    name = visit.args.text("worker", None)
    # The first read tells the time.
    queues = await visit.see(fleet.queue_cards(schema=visit.schema))
    assert visit.now is not None
    cards = await visit.see(fleet.worker_cards(visit.now, seen_within=SEEN[seen], schema=visit.schema))
    shown = [
        card for card in cards
        if (state is None or state == shown_state(card)) and (queue is None or queue in card.worker.queues)
        and (build is None or build == card.worker.build) and (name is None or name == card.worker.worker_id)
    ]  # fmt: skip
    if name is not None and shown:
        latest = max(shown, key=lambda card: card.worker.started_at)
        return RedirectResponse(visit.url(f"/workers/{latest.worker.holder}"))
    return visit.page(
        "workers.html",
        cards=shown,
        all=len(cards),
        rows=[drawn(card, visit.now) for card in shown],
        seen=seen,
        seens=[*SEEN],
        state=state,
        queue=queue,
        build=build,
        warned=warned(cards),
        unserved=[card for card in queues if not card.standing.workers],
        words=warning_words(),
    )


@router.page("/workers/{id}", Action.WORKERS_READ, tenant=False)
async def one(visit: Visit) -> Response:
    """One session: what it does, what it would lose if it stopped, what it ended."""
    id, schema = as_id(visit.request.path_params["id"], "id"), visit.schema
    worker = await visit.see(workers.worker(id, schema=schema))
    assert visit.now is not None
    card = await visit.see(fleet.worker_card(worker, visit.now, schema=schema))
    held = await visit.read(held_jobs(id, 200, schema=schema))
    ended = await visit.attempt(_("what it ended"), ended_jobs(id, schema=schema)) or []
    slugs = await visit.read(
        tenant_slugs([id for id in _tenants(held, ended) if id is not None], schema=schema)
    )
    return visit.page(
        "worker.html",
        card=card,
        row=drawn(card, visit.now),
        words=warning_words(),
        held=held,
        losing=losing(held),
        ended=ended,
        jobs=visit.url("/jobs", q=f"worker:{written(worker.worker_id)}"),
        slugs=slugs,
        chart=_timeline(held, ended, visit) if held or ended else None,
        log=await visit.read(store.object_log("worker", worker.worker_id, 20, schema=schema)),
        report=worker.report or {},
        config=_config(worker),
        error=_error(worker),
    )


@router.act("/workers/{id}/drain", Action.WORKERS_WRITE, tenant=False)
async def drain(visit: Visit) -> Response:
    """Claim nothing more."""
    return await _ask(visit, "drain", _("%s claims nothing more as soon as it hears of it."))


@router.act("/workers/{id}/resume", Action.WORKERS_WRITE, tenant=False)
async def resume(visit: Visit) -> Response:
    """Claim again."""
    return await _ask(visit, "resume", _("%s claims again as soon as it hears of it."))


@router.act("/workers/{id}/stop", Action.WORKERS_WRITE, tenant=False)
async def stop(visit: Visit) -> Response:
    """End once nothing runs."""
    durations.reason(visit)
    return await _ask(visit, "stop", _("%s ends as soon as nothing of it runs."))


@router.act("/workers/{id}/rescue", Action.WORKERS_WRITE, tenant=False)
async def rescue(visit: Visit) -> Response:
    """Take back what it held."""
    id = as_id(visit.request.path_params["id"], "id")
    why = durations.reason(visit)
    done = await visit.drive(workers.rescue(id, reason=why, schema=visit.schema))
    n = len(done.jobs)
    given_up = sum(job.verdict != "scheduled" for job in done.jobs)
    said = many("%d job was taken back.", "%d jobs were taken back.", n) % n
    if given_up:
        said += (
            " "
            + many("%d of them was its last attempt.", "%d of them were their last attempt.", given_up)
            % given_up
        )
    return visit.done(said, visit.back())


async def _ask(visit: Visit, asked: Asked, said: str) -> Response:
    id = as_id(visit.request.path_params["id"], "id")
    why = visit.form.text("reason", None)
    found = await visit.drive(workers.ask(id, asked, reason=why, schema=visit.schema))
    return visit.done(said % found.worker_id, visit.back())


def warning_words() -> dict[str, str]:
    """What each warning says."""
    return {
        Warning.STALE: _("stale"),
        Warning.OLD_BUILD: _("old build"),
        Warning.SKEW: _("clock is off"),
        Warning.FULL: _("slots full for long"),
        Warning.DRAINING_LONG: _("draining for long"),
    }


@dataclass(frozen=True, slots=True)
class Warned:
    """Workers of which the same is to be said. `waiting`: how many jobs of them wait for a rescue."""

    severity: str
    said: str
    cards: list[WorkerCard]
    waiting: int


def warned(cards: Sequence[WorkerCard]) -> list[Warned]:
    """What is to be said of workers, the worst first; what is the same of several once."""
    words, found = warning_words(), dict[tuple[str, str], list[WorkerCard]]()
    for card in cards:
        if card.warnings and not card.replaced:
            key = ("critical" if card.stale else "warning", ", ".join(words[one] for one in card.warnings))
            found.setdefault(key, []).append(card)
    made = [
        Warned(severity, said, some, sum(card.load.n for card in some if card.stale and card.load))
        for (severity, said), some in found.items()
    ]
    return sorted(made, key=lambda one: one.severity != "critical")


def shown_state(card: WorkerCard) -> str:
    """running | draining | stale | stopped"""
    return "stale" if card.stale else card.worker.state if card.worker.state != "lost" else "stopped"


def heartbeat(card: WorkerCard, now: datetime) -> str:
    """`3 s ago · stale in 0:12`, `stale for 5:30`, `stopped cleanly`, `stopped; 2 jobs were interrupted …`."""
    worker = card.worker
    if worker.clean:
        n = worker.interrupted
        told = many(
            "stopped; %d job was interrupted and given back",
            "stopped; %d jobs were interrupted and given back",
            n,
        )
        return told % n if n else _("stopped cleanly")
    ago = (now - worker.last_seen_at).total_seconds()
    if card.stale_in is not None and card.stale_in > 0:
        told = _("%(ago)s ago · stale in %(time)s")
        return told % {"ago": seconds(max(ago, 0.0)), "time": clock(card.stale_in)}
    if worker.http:
        return _("gone")
    since = clock(ago if card.stale_in is None else -card.stale_in)
    return (_("gone without a word for %s, and replaced") if card.replaced else _("stale for %s")) % since


def clock(length: float) -> str:
    """`0:12`, `5:30`, `1:02:03`; days beyond."""
    whole = int(length)
    if whole >= 86400:
        return seconds(length)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def losing(held: list[HeldJob]) -> dict[str, int]:
    """How many of the jobs that it holds are of which replay class: what happens to them if it ends without a word."""
    counts: dict[str, int] = {}
    for job in held:
        name = job.replay_class or "unknown"
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def drawn(card: WorkerCard, now: datetime) -> dict[str, Any]:
    """What is drawn of a session."""
    worker = card.worker
    memory = (worker.report or {}).get("memory_bytes")
    return {
        "state": shown_state(card),
        "heartbeat": heartbeat(card, now),
        "gauge": gauge(
            worker.running, worker.all_slots or None, title=_("Slots used"), warn_at=1.0, bad_at=9.9
        ),
        "oldest": None if card.load is None else (now - card.load.oldest_at).total_seconds(),
        "held": 0 if card.load is None else card.load.n,
        "skew": skew(worker.skew_seconds),
        "memory": None if not isinstance(memory, int) else f"{memory / 2**20:,.0f} MiB",
        "error": _error(worker),
        "asked": worker.asked in ("drain", "stop") and worker.state in ("running", "draining"),
    }


def skew(off: float | None) -> str | None:
    """How far its clock is ahead of the database's, or behind it: `in step`, `+4.500 s`; what is below 50 ms is no news."""
    return None if off is None else _("in step") if abs(off) < IN_STEP else f"{off:+.3f} s"


def _error(worker: WorkerView) -> dict[str, str] | None:
    """Its last error, if it is told as we tell it: the row is the worker's own word."""
    told = (worker.report or {}).get("last_error")
    names = ("job_id", "job_type", "error_class", "message")
    return {name: str(told.get(name, "")) for name in names} if isinstance(told, dict) else None


def _config(worker: WorkerView) -> dict[str, object]:
    told = (worker.report or {}).get("config")
    return told if isinstance(told, dict) else {}


def _tenants(held: list[HeldJob], ended: list[EndedJob]) -> list[UUID | None]:
    return [job.tenant_id for job in held] + [job.tenant_id for job in ended]


def _timeline(held: list[HeldJob], ended: list[EndedJob], visit: Visit) -> Any:
    """Its jobs in slots: each in the first row that is free when it starts."""
    assert visit.now is not None
    spans = [
        Span(job.started_at, job.finished_at, job.job_type or "?", "ok" if job.status == "succeeded" else "bad",
             visit.url(f"/jobs/{job.id}"))
        for job in ended if job.started_at is not None
    ] + [
        Span(job.claimed_at, None, job.job_type or "?", "series-2", visit.url(f"/jobs/{job.id}")) for job in held
    ]  # fmt: skip
    spans = sorted(spans, key=lambda span: span.since)[-SHOWN_SPANS:]
    slots: list[list[Span]] = []
    for span in spans:
        free = next(
            (slot for slot in slots if slot[-1].until is not None and slot[-1].until <= span.since), None
        )
        if free is None:
            slots.append([span])
        else:
            free.append(span)
    rows = [Row(_("slot %d") % n, slot) for n, slot in enumerate(slots, 1)]
    return timeline(rows, id="chart-slots", title=_("Its latest jobs, by slot"), now=visit.now)
