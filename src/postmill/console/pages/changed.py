"""What was changed lately: as lines, and as marks on a time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from postmill.console.charts import Mark, MarkKind
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.store.now import Change


@dataclass(frozen=True, slots=True)
class Line:
    """A change: what in words, of what, by whom, and where it is."""

    at: datetime
    what: str
    target: str | None
    who: str | None
    reason: str | None
    href: str | None


def rows(visit: Visit, changes: Sequence[Change]) -> list[Line]:
    """One line each, the latest first."""
    return [
        Line(one.at, what(one.kind), one.target, one.actor, one.reason, where(visit, one)) for one in changes
    ]


def marks(visit: Visit, changes: Sequence[Change]) -> list[Mark]:
    """Those that explain a curve: deploys, pauses, replays, lost workers."""
    kinds = {
        "deploy": MarkKind.DEPLOY,
        "build": MarkKind.DEPLOY,
        "queues.pause": MarkKind.PAUSE,
        "operations.start": MarkKind.REPLAY,
        "worker_loss": MarkKind.WORKER_LOSS,
        "queues.resume": MarkKind.OTHER,
    }
    return [
        Mark(one.at, kinds[one.kind], f"{what(one.kind)} {one.target or ''}".strip(), where(visit, one))
        for one in changes
        if one.kind in kinds
    ]


def what(kind: str) -> str:
    """A kind of change in words; an action that has none as the log spells it."""
    return {
        "deploy": _("Deployed"),
        "build": _("Build started"),
        "worker_loss": _("Worker lost"),
        "queues.pause": _("Queue paused"),
        "queues.resume": _("Queue resumed"),
        "queues.move": _("Jobs moved"),
        "budgets.set": _("Budget changed"),
        "budgets.limit": _("Budget's limit changed"),
        "operations.start": _("Bulk operation started"),
        "operations.pause": _("Bulk operation paused"),
        "operations.finish": _("Bulk operation ended"),
        "logins.open": _("Operator logged in"),
        "dead.discard": _("Dead letters discarded"),
        "triggers.change": _("Trigger changed"),
        "triggers.create": _("Trigger made"),
        "triggers.run": _("Trigger run by hand"),
        "tenants.change": _("Tenant changed"),
        "incidents.acknowledge": _("Incident acknowledged"),
        "incidents.resolve": _("Incident resolved"),
    }.get(kind, kind)


def where(visit: Visit, change: Change) -> str | None:
    """Where the thing that was changed is; else its line in the audit log, for who may read that."""
    head, target = change.kind.partition(".")[0], change.target
    if change.kind == "deploy":
        return visit.url(f"/definitions/{change.ref}")
    if change.kind in ("worker_loss", "build"):
        return visit.url(f"/workers/{change.ref}")
    paths = {
        "queues": "/queues/",
        "operations": "/ops-log/",
        "triggers": "/triggers/",
        "tenants": "/tenants/",
    }
    if head in paths and target:
        return visit.url(paths[head] + target)
    if head == "incidents" and target:
        return visit.url(incident=target)
    return visit.url("/audit", id=change.ref) if visit.may(Action.AUDIT_READ) else None
