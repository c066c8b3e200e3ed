"""How far an operation is, how fast it goes, and when it will have ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from postmill.console.bulk.words import LABELS
from postmill.console.frame.words import _
from postmill.store.operations import Operation


@dataclass(frozen=True, slots=True)
class Line:
    """An operation with what a page says of it.

    Attributes:
        label: what it does.
        which: to which jobs.
        standing: its state in words: with its stage, or why it is paused.
        word: the state that colours it.
        rate: jobs a second so far.
        canary: how its first replays went, in words.
        eta: seconds until it ends, as it goes now; None: nobody knows.
        undo: whether nothing was done yet, nor will be in this moment, so that an abort undoes all of it.
        cut: jobs that were enqueued from this moment on are not meant; None: it is about dead letters.
    """

    op: Operation
    label: str
    which: str
    standing: str
    word: str
    rate: float | None
    canary: str
    eta: float | None
    undo: bool
    cut: datetime | None

    @classmethod
    def of(cls, op: Operation, now: datetime | None) -> Line:
        """As it stands at a moment."""
        rate = _rate(op, now)
        left = op.total - op.tried
        speed = rate or op.rate
        going = op.status == "running" and op.stage != "select"
        begun = op.start_at is None or (now is not None and op.start_at <= now)
        return cls(
            op,
            _(LABELS[op.kind]),
            which(op),
            _standing(op, begun),
            _WORDS.get(op.status, "queued"),
            rate,
            _canary(op),
            left / speed if going and begun and speed and left else None,
            not op.ended and not op.tried and (op.status == "proposed" or not begun),
            None if op.cut_off is None else datetime.fromtimestamp((op.cut_off.int >> 80) / 1000, UTC),
        )


_WORDS = {
    "proposed": "blocked",
    "running": "running",
    "paused": "scheduled",
    "finished": "succeeded",
    "aborted": "canceled",
}


def which(op: Operation) -> str:
    """The jobs that it is about, as somebody described them."""
    if "query" in op.filter:
        return str(op.filter["query"])
    if "ids" in op.filter:
        return _("%s chosen jobs") % f"{len(op.filter['ids']):,}"
    said = " ".join(f"{name}:{value}" for name, value in op.filter.items() if name != "tenant_id")
    return said or _("all dead letters")


def _standing(op: Operation, begun: bool) -> str:
    if op.status == "proposed":
        return _("waits for somebody else's approval")
    if op.status == "paused":
        return _("paused")
    if op.status == "running" and op.stage == "select":
        return _("counts its jobs")
    if op.status == "running" and not begun:
        return _("has not begun yet")
    if op.status == "running" and op.stage == "canary":
        return _("waits for its first replays")
    return {"running": _("running"), "finished": _("finished"), "aborted": _("aborted")}[op.status]


def _canary(op: Operation) -> str:
    n = f"{op.canary:,}"
    if (op.pause_reason or "").startswith("canary:"):
        return _("failed: see why it is paused")
    if op.stage == "rest":
        return _("passed: the first %s had ended before the rest was enqueued") % n
    if op.stage == "canary" and op.done:
        return _("the first %s are enqueued; the rest waits until they have ended") % n
    return _("the first %s go alone") % n


def _rate(op: Operation, now: datetime | None) -> float | None:
    until = op.ended_at or op.paused_at or now
    if op.started_at is None or until is None or not op.tried:
        return None
    took = (until - op.started_at).total_seconds()
    return op.tried / took if took > 0.5 else None
