"""How far an operation is, how fast it goes, and when it will have ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from postmill.console.bulk.words import LABELS
from postmill.console.frame.shown import percent
from postmill.console.frame.words import _, many
from postmill.store.operations import Operation

LIVE = frozenset(("scheduled", "queued", "blocked", "retrying", "running"))
"""States of jobs that have not ended."""


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
    def of(cls, op: Operation, now: datetime | None, results: Mapping[str, int] | None = None) -> Line:
        """As it stands at a moment. `results`: where its new jobs are; None: nobody has looked."""
        rate = _rate(op, now)
        left = op.total - op.tried
        speed = rate or op.rate
        going = op.status == "running" and op.stage != "select"
        begun = op.start_at is None or (now is not None and op.start_at <= now)
        return cls(
            op,
            _(LABELS[op.kind]),
            which(op),
            _standing(op, begun, results),
            "running" if op.status == "finished" and _left(results) else _WORDS.get(op.status, "queued"),
            rate,
            _canary(op, results),
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


def _left(results: Mapping[str, int] | None) -> int:
    """How many of its new jobs have not ended yet."""
    return sum(n for state, n in (results or {}).items() if state in LIVE)


def _standing(op: Operation, begun: bool, results: Mapping[str, int] | None) -> str:
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
    if op.status == "finished" and op.kind in ("replay", "retry"):
        # What it had to do is to enqueue; what comes of that is another matter.
        if left := _left(results):
            return (
                many("all enqueued, %s job has not ended", "all enqueued, %s jobs have not ended", left)
                % f"{left:,}"
            )
        return _("finished: all have ended") if results else _("all enqueued")
    return {"running": _("running"), "finished": _("finished"), "aborted": _("aborted")}[op.status]


def _canary(op: Operation, results: Mapping[str, int] | None) -> str:
    n = f"{op.canary:,}"
    if (op.pause_reason or "").startswith("canary:"):
        return _("failed: see why it is paused")
    if op.stage == "rest":
        return _passed(op, n, results)
    if op.stage == "canary" and op.done:
        return _("the first %s are enqueued; the rest waits until they have ended") % n
    return _("the first %s go alone") % n


def _passed(op: Operation, n: str, results: Mapping[str, int] | None) -> str:
    badly = not results or any(results.get(state) for state in ("dead_letter", "failed", "canceled"))
    if not op.stop_ratio or not badly:
        return _("passed: the first %s succeeded before the rest was enqueued") % n
    told = _("passed: of the first %(n)s at most %(share)s had ended badly before the rest was enqueued")
    return told % {"n": n, "share": percent(op.stop_ratio, 0)}


def _rate(op: Operation, now: datetime | None) -> float | None:
    until = op.ended_at or op.paused_at or now
    if op.started_at is None or until is None or not op.tried:
        return None
    took = (until - op.started_at).total_seconds()
    return op.tried / took if took > 0.5 else None
