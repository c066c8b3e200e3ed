"""Queues: list and detail; pause, resume, move what waits, limit its job types."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from postmill.api.problems import not_found
from postmill.bind import adrive, arun
from postmill.console.charts import gauge, sparkline
from postmill.console.frame import durations
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _, many
from postmill.console.pages import queue_courses, queue_limits, queue_rules
from postmill.domain.access import Action
from postmill.domain.queue import check_runbook, match_queue
from postmill.domain.queue_health import Health
from postmill.operate import commands, fleet
from postmill.operate.definitions import definitions
from postmill.operate.fleet import QueueCard
from postmill.operate.scaling import scaling
from postmill.store import fleet as store
from postmill.store.boost import read_queue_boost
from postmill.store.fleet import LogLine, TypeLimit
from postmill.store.queues import read_queue_names
from postmill.store.top import top_moment
from postmill.store.workers import read_workers

router = Pages()

SORTS = ("health", "name", "waiting", "oldest", "running", "arrived", "ended", "drain", "attained")

PAUSES = ("queues.pause", "queues.resume", "types.pause", "types.resume")
"""What is told as a pause of a queue: its own, and those of its job types."""

BATCHES = 20
"""Statements of a move that one form sends, of a thousand tickets each; what is left is moved by the next."""


@router.page("/queues", Action.QUEUES_READ, tenant=False)
async def queues(visit: Visit) -> Response:
    """All queues, the worst first."""
    cards = await visit.see(fleet.queue_cards(schema=visit.schema))
    health = visit.args.one_of("health", [*map(str, Health)], None)
    part_of = visit.args.text("q").lower()
    sort = visit.args.one_of("sort", SORTS, "health")
    shown = [
        card for card in cards
        if (health is None or card.health == health) and part_of in card.row.name.lower()
    ]  # fmt: skip
    if sort != "health":
        shown.sort(key=lambda card: _key(card, sort))
    return visit.page(
        "queues.html",
        cards=shown,
        all=len(cards),
        healths=_counted(cards),
        health=health,
        part_of=part_of,
        sort=sort,
        sorts=_sorts(),
        rows=[_row(card) for card in shown],
        words=queue_limits.health_words(),
    )


@router.page("/queues/{queue:path}", Action.QUEUES_READ, tenant=False)
async def queue(visit: Visit) -> Response:
    """One queue: how it goes, who is in it, what limits it, what was done to it."""
    name, schema = visit.request.path_params["queue"], visit.schema
    found = await visit.see(fleet.queue_cards(name, schema=schema))
    if not found:
        raise not_found("queue")
    [card] = found
    span = visit.args.one_of("span", [*queue_courses.SPANS], "1h")
    log: list[LogLine] = []
    if visit.wants("course"):
        log = await visit.read(store.object_log("queue", name, 50, schema=schema))
    limits: list[TypeLimit] = []
    if visit.wants("facts"):
        limits = await visit.read(store.queue_limits(name, schema=schema))
    points = None
    shares: list[queue_limits.Share] = []
    if visit.wants("course"):
        points = await visit.attempt(
            _("the course of the queue"), store.queue_course(name, *queue_courses.SPANS[span], schema=schema)
        )
    if visit.wants("tenants", "facts"):
        tenants = await visit.attempt(_("tenants in the queue"), store.queue_tenants(name, schema=schema))
        depths = await visit.read(store.depths(name, schema=schema))
        shares = queue_limits.fairness(tenants or [], depths)
    workers = [] if visit.parts else [
        one for one in await visit.read(read_workers(seen_within=3600.0, most=1000, schema=schema))
        if name in one.queues and one.state != "stopped"
    ]  # fmt: skip
    types = await visit.see(definitions(queue=name, most=100, schema=schema)) if visit.wants("facts") else []
    others = [] if visit.parts else await visit.read(read_queue_names(schema=schema))
    rules, needed, boost = None, None, None
    if visit.wants("facts"):
        rules = await visit.attempt(
            _("its limits"),
            queue_rules.rules(
                name, [one.key for one in types], [one.slug for one in shares if one.waiting], schema=schema
            ),
        )
        needed = await visit.attempt(_("how many workers it needs"), scaling(name, schema=schema))
        boost = await visit.read(read_queue_boost(name, schema=schema))
    assert visit.now is not None
    return visit.page(
        "queue.html",
        card=card,
        row=_row(card),
        words=queue_limits.health_words(),
        span=span,
        spans=[*queue_courses.SPANS],
        charts=None if points is None else queue_courses.charts(card, points, log, span, visit),
        fairness=shares,
        rules=rules,
        scaling=needed[0] if needed else None,
        boost=boost,
        limits=limits,
        binding=queue_limits.binding(card, rules),
        workers=workers,
        types=types,
        pauses=[line for line in log if line.action in PAUSES],
        promises=[line for line in log if line.action == "queues.declare"],
        others=[one for one in others if one != name],
        choices=durations.CHOICES,
        runbook=_runbook(card),
    )


@router.act("/queues/{queue:path}/pause", Action.QUEUES_WRITE, tenant=False)
async def pause(visit: Visit) -> Response:
    """Stop handing out its jobs; what runs goes on, so that it drains."""
    name = await _name(visit)
    async with visit.asked.transaction() as conn:
        until = durations.until(visit, "for", await _moment(visit, conn))
        why = visit.form.text("reason", None)
        await adrive(conn, commands.pause(name, reason=why, resume_at=until, schema=visit.schema))
    said = _("%s is paused.") % name
    if until is not None:
        said += " " + _("It opens again at %s UTC by itself.") % f"{until:%Y-%m-%d %H:%M}"
    return visit.done(said, visit.back())


@router.act("/queues/{queue:path}/resume", Action.QUEUES_WRITE, tenant=False)
async def resume(visit: Visit) -> Response:
    """Hand out its jobs again."""
    name = await visit.drive(commands.resume(await _name(visit), schema=visit.schema))
    return visit.done(_("%s is open again.") % name, visit.back())


@router.act("/queues/{queue:path}/move", Action.QUEUES_WRITE, tenant=False)
async def move(visit: Visit) -> Response:
    """Take the waiting jobs of a type into another queue, or back into its own: some thousand of them at once."""
    await _name(visit)
    job_type, to = visit.form.text("job_type"), visit.form.text("to", None)
    moved = await visit.drive(
        queue_limits.first_batches(commands.move(job_type, to, schema=visit.schema), BATCHES)
    )
    said = many("%(n)d job of %(type)s was moved.", "%(n)d jobs of %(type)s were moved.", moved.n)
    said = said % {"n": moved.n, "type": job_type}
    if moved.more:
        said += " " + _("More wait: do it again.")
    return visit.done(said, visit.back())


async def _name(visit: Visit) -> str:
    known = await visit.run(read_queue_names(schema=visit.schema))
    return match_queue(visit.request.path_params["queue"], known)


async def _moment(visit: Visit, conn: Any) -> Any:
    return await arun(conn, top_moment(schema=visit.schema))


def _row(card: QueueCard) -> dict[str, Any]:
    """What is drawn of a queue."""
    row, standing = card.row, card.standing
    slots = standing.slots or None
    return {
        "gauge": gauge(min(row.running or 0, slots or row.running or 0), slots, title=_("Running of slots")),
        "spark": sparkline(
            [float(n) for n in standing.ended_hour],
            title=_("Ended in each minute of the last hour"),
            width=96,
        ),
        "target": _target(card),
        "now": standing.wait_p95,
        "drain": _drain(card),
    }


def _runbook(card: QueueCard) -> str | None:
    """Only what is an address of the web: it was checked when it was declared, but not when plain SQL wrote it."""
    try:
        return check_runbook(card.standing.runbook)
    except ValueError:
        return None


def _target(card: QueueCard) -> str:
    row = card.row
    told = [
        (_("total %s"), row.sla_seconds),
        (_("wait %s"), row.wait_target_seconds),
        (_("run %s"), row.run_target_seconds),
    ]
    return ", ".join(words % seconds(value) for words, value in told if value is not None)


def _drain(card: QueueCard) -> str:
    if not card.waiting and card.pauses:
        return _("not while %s is paused") % ", ".join(one.job_type for one in card.pauses[:3])
    if not card.waiting:
        return _("nothing waits")
    if card.row.paused:
        return _("not while it is paused")
    return _("it grows") if card.drain_seconds is None else seconds(card.drain_seconds)


def _counted(cards: list[QueueCard]) -> dict[str, int]:
    """How many queues have which health, the worst word first."""
    return {str(one): n for one in Health if (n := sum(card.health is one for card in cards))}


def _sorts() -> dict[str, str]:
    """The orders of the list in words."""
    return {
        "health": _("the worst first"),
        "name": _("by name"),
        "waiting": _("most waiting"),
        "oldest": _("longest waiting"),
        "running": _("most running"),
        "arrived": _("most arrivals"),
        "ended": _("most ended"),
        "drain": _("longest to drain"),
        "attained": _("least kept in 24 h"),
    }


def _key(card: QueueCard, sort: str) -> Any:
    row, standing = card.row, card.standing
    return {
        "name": row.name,
        "waiting": -card.waiting,
        "oldest": -(row.oldest_seconds or 0.0),
        "running": -(row.running or 0),
        "arrived": -standing.arrived,
        "ended": -standing.ended,
        "drain": -(float("inf") if card.drain_seconds is None else card.drain_seconds),
        "attained": 2.0 if standing.attained_day is None else standing.attained_day,
    }[sort]
