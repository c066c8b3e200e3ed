"""Limits over the whole fleet on the page of a queue: what there is, what is used of it, and which of them are full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from postmill.console.frame import durations
from postmill.console.frame.arguments import refused
from postmill.console.frame.pages import Pages
from postmill.console.frame.shown import seconds
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.domain.errors import InvalidValue, UnknownJobType, UnknownQueue
from postmill.domain.limit import Rate
from postmill.operate import limits as operate
from postmill.store.flow import Flow
from postmill.store.limits import LimitKey, LimitView

router = Pages()

KEYS = 5
"""So many of the things that a limit counts each for itself are told of, the fullest first."""

LOOKED_AT = 3
"""Of so many limits."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit with words for what it counts and how it stands.

    Attributes:
        on: whose jobs are under it; `each`: what it counts each for itself.
        binds: why it holds jobs back now; None: it does not.
        keys: the fullest of the things that it counts each for itself.
    """

    limit: LimitView
    on: str
    each: str
    binds: str | None
    keys: list[LimitKey]


def rules(queue: str, types: Iterable[str], tenants: Iterable[str], *, schema: str) -> Flow[list[Rule]]:
    """All limits that jobs of this queue are under, those that hold some back first: of all, of the queue, of its types,
    and of the tenants that have work in it.
    """
    known, slugs = frozenset(types), frozenset(tenants)
    found = yield from operate.limits(schema=schema)
    mine = [one for one in found if _meant(one, queue, known, slugs)]
    mine.sort(key=lambda one: (binds(one) is None, one.name))
    made: list[Rule] = []
    for one in mine:
        keys: list[LimitKey] = []
        if one.per and one.running and sum(bool(rule.keys) for rule in made) < LOOKED_AT:
            keys = yield from operate.limit_keys(one.name, most=KEYS, schema=schema)
        made.append(Rule(one, on(one), ", ".join(one.per), binds(one), keys))
    return made


def everything(*, schema: str) -> Flow[list[Rule]]:
    """All limits in scope, those that hold jobs back first."""
    found = yield from operate.limits(schema=schema)
    found.sort(key=lambda one: (binds(one) is None, one.name))
    return [Rule(one, on(one), ", ".join(one.per), binds(one), []) for one in found]


def of_tenant(slug: str, *, schema: str) -> Flow[list[Rule]]:
    """All limits on the jobs of one tenant."""
    found = yield from operate.limits(schema=schema)
    return [Rule(one, on(one), ", ".join(one.per), binds(one), []) for one in found if one.tenant == slug]


def on(limit: LimitView) -> str:
    """Whose jobs are under it."""
    if limit.job_type is not None:
        return _("job type %s") % limit.job_type
    if limit.queue is not None:
        return _("queue %s") % limit.queue
    return _("all jobs") if limit.tenant is None else _("tenant %s") % limit.tenant


def binds(limit: LimitView) -> str | None:
    """Why it holds jobs back right now; None: it does not."""
    if limit.max_running == 0:
        return _("nothing may run: the tenant is suspended")
    if limit.at_cap and limit.per:
        return _("%(n)s of %(all)s are full, with %(most)s each") % {
            "n": f"{limit.at_cap:,}", "all": f"{limit.keys:,}", "most": f"{limit.max_running:,}"}  # fmt: skip
    if limit.at_cap:
        return _("full: %(n)s of %(most)s run") % {
            "n": f"{limit.running:,}",
            "most": f"{limit.max_running:,}",
        }
    if limit.wait_seconds:
        return _("its rate lets nothing start for %s") % seconds(limit.wait_seconds)
    return None


def binding(found: Sequence[Rule]) -> list[str]:
    """Those that hold jobs back, in words."""
    return [
        _("the limit %(name)s: %(why)s") % {"name": rule.limit.name, "why": rule.binds}
        for rule in found
        if rule.binds
    ]


@router.act("/queues/{queue:path}/limit", Action.QUEUES_WRITE, tenant=False)
async def set_(visit: Visit) -> Response:
    """Sets a limit on the jobs of this queue or of one of its types."""
    form = visit.form
    per = form.text("per").strip().strip("/")
    name = form.text("on") + (f"/{per}" if per else "")
    most = form.whole("max_running", None, least=1, most=2**31 - 1)
    count = form.whole("rate_count", None, least=1, most=2**31 - 1)
    span = form.number("rate_seconds", 1.0, least=0.001, most=31_536_000)
    if most is None and count is None:
        raise refused("max_running", _("say how many at once, or how many starts in a time"))
    try:
        found = await visit.drive(
            operate.set_limit(
                name, max_running=most, rate=None if count is None else Rate(count, span),
                reason=durations.reason(visit), schema=visit.schema,
            )
        )  # fmt: skip
    except (InvalidValue, UnknownQueue, UnknownJobType) as fault:
        raise refused("on", str(fault)) from None
    return visit.done(_("The limit %s is in force.") % found.name, visit.back())


@router.act("/queues/{queue:path}/limit-clear", Action.QUEUES_WRITE, tenant=False)
async def clear(visit: Visit) -> Response:
    """Takes back what an operator said of a limit."""
    name = visit.form.text("name")
    if name.startswith("tenant:"):
        raise refused("name", _("a tenant's limit is changed on its page"))
    status = await visit.drive(operate.clear_limit(name, reason=durations.reason(visit), schema=visit.schema))
    said = (
        _("The limit %s is what is declared again.") if status == "declared" else _("The limit %s is gone.")
    )
    return visit.done(said % name, visit.back())


def _meant(limit: LimitView, queue: str, types: frozenset[str], tenants: frozenset[str]) -> bool:
    if limit.tenant is not None:
        return limit.tenant in tenants
    if limit.job_type is not None:
        return limit.job_type in types
    return limit.queue in (queue, None)
