"""What was changed lately: as lines, and as marks on a time axis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from postmill.console.charts import Mark, MarkKind
from postmill.console.frame.action_words import action_words
from postmill.console.frame.shown import short_id
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.store.now import Change

_BUILDS = ("build", "build_again")

_MANY = ("deploy", "triggers.run")
"""Of these one comes seldom alone."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Line:
    """A change: what in words, of what, by whom, and where it is. `more`: as many others like it came right before."""

    at: datetime
    what: str
    target: str | None
    more: int
    who: str | None
    reason: str | None
    href: str | None


def rows(visit: Visit, changes: Sequence[Change]) -> list[Line]:
    """One line each, the latest first. Processes of one build that start one after the other are one line, the first; so are
    deploys, and runs of triggers by hand, that somebody made one after the other."""
    told: list[Change] = []
    for one in changes:
        before = next((other for other in reversed(told) if other.kind in _BUILDS), None)
        if one.kind in _BUILDS and before is not None and before.target == one.target:
            told.remove(before)
        told.append(one)
    alike = (list(some) for _key, some in groupby(told, key=_together))
    return [
        Line(one.at, what(one.kind), _target(one), len(some) - 1, one.actor, _why(one), where(visit, one))
        for some in alike
        for one in some[:1]
    ]


def _together(one: Change) -> tuple[object, ...]:
    """What changes have alike that are one line."""
    return (one.kind, one.actor) if one.kind in _MANY else (one.kind, one.actor, one.at, one.ref)


def _why(one: Change) -> str | None:
    """Its reason; of a bulk operation that ended its figures."""
    if one.kind != "operations.finish" or one.reason is None:
        return one.reason
    done, total, skipped, failed = (int(n) for n in one.reason.split("/"))
    told = _("%(n)s of %(all)s jobs done") % {"n": f"{done:,}", "all": f"{total:,}"}
    if skipped:
        told += _(", %s skipped") % f"{skipped:,}"
    if failed:
        told += _(", %s failed") % f"{failed:,}"
    return told


def is_id(text: str) -> bool:
    """Whether it is a UUID."""
    return _UUID.fullmatch(text) is not None


def worker_name(id: str) -> str:
    """`vm pid 21422` of a worker's id, `vm:21422:d32e…`; any other as it is."""
    host, _colon, rest = id.partition(":")
    return _("%(host)s pid %(pid)s") % {"host": host, "pid": rest.partition(":")[0]} if rest else id


def _target(one: Change) -> str | None:
    text = one.label or one.target
    if text and (one.kind.startswith("workers.") or one.kind == "worker_loss"):
        return worker_name(text)
    return short_id(text) if text and is_id(text) else text


def marks(visit: Visit, changes: Sequence[Change]) -> list[Mark]:
    """Those that explain a curve: deploys, pauses, replays, lost workers."""
    kinds = {
        "deploy": MarkKind.DEPLOY,
        "build": MarkKind.DEPLOY,
        "build_again": MarkKind.DEPLOY,
        "queues.pause": MarkKind.PAUSE,
        "operations.start": MarkKind.REPLAY,
        "worker_loss": MarkKind.WORKER_LOSS,
        "queues.resume": MarkKind.OTHER,
        "types.pause": MarkKind.PAUSE,
        "types.resume": MarkKind.OTHER,
    }
    return [
        Mark(one.at, kinds[one.kind], f"{what(one.kind)} {one.target or ''}".strip(), where(visit, one))
        for one in changes
        if one.kind in kinds
    ]


def what(kind: str) -> str:
    """A kind of change in words."""
    own = {
        "deploy": _("Deployed"),
        "build": _("Build started"),
        "build_again": _("Build started again"),
        "worker_loss": _("Worker lost"),
    }
    return own.get(kind) or action_words(kind)


def where(visit: Visit, change: Change) -> str | None:
    """Where the thing that was changed is; else its line in the audit log, for who may read that."""
    head, target = change.kind.partition(".")[0], change.target
    if change.kind == "deploy":
        return visit.url(f"/definitions/{change.ref}")
    if change.kind in ("worker_loss", "build", "build_again"):
        return visit.url(f"/workers/{change.ref}")
    paths = {
        "queues": "/queues/",
        "operations": "/ops-log/",
        "triggers": "/triggers/",
        "tenants": "/tenants/",
        "types": "/definitions/",
        "errors": "/errors/",
    }
    if head in paths and target:
        return visit.url(paths[head] + target)
    if head == "incidents" and target:
        return visit.url(incident=target)
    return visit.url("/audit", id=change.ref) if visit.may(Action.AUDIT_READ) else None
