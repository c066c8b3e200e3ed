"""What goes on, as a page that fits into a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from postmill.cli.ages import length, relative
from postmill.cli.ids import short, short_worker
from postmill.cli.tables import Cell, Grid, state, table
from postmill.cli.text import one_line, plain
from postmill.operate.top import COUNTED, Sort, Top, TopQueue
from postmill.store.top import Failure, LiveIncident, RunningJob
from postmill.store.workers import WorkerView

SEVERITIES = {"info": "cyan", "warning": "yellow", "critical": "bold red"}

QUEUES = ("queue", "queued", "oldest", "run", "dead", "done/min", "fail/min", "p95", "state")
NUMBERS = (
    "queued",
    "oldest",
    "run",
    "dead",
    "done/min",
    "fail/min",
    "p95",
    "runs",
    "count",
    "tenants",
    "attempt",
)


def top_page(top: Top, sort: Sort, height: int | None = None, note: Text | None = None) -> RenderableType:
    """The page; `height` lines of the terminal are to hold it, None: as long as it gets. `note` is its second line."""
    parts: list[RenderableType] = [head(top)]
    if note is not None:
        parts.append(note)
    sections = [
        ("incidents", [_incident(one, top.at) for one in top.incidents], ("since", "severity", "incident")),
        (f"queues, by {sort}", [_queue(one) for one in top.queues], QUEUES),
        ("running", [_running(one) for one in top.running], ("job", "type", "queue", "runs", "attempt", "worker")),
        ("failures", [_failure(one, top.at) for one in top.failures], ("last", "since", "count", "tenants", "type", "error")),
        ("workers", [_worker(one, top.at) for one in top.workers], ("worker", "state", "run", "slots", "seen")),
    ]  # fmt: skip
    left = None if height is None else height - len(parts)
    for n, (title, rows, columns) in enumerate(sections):
        if not rows:
            continue
        most = len(rows) if left is None else max(min(len(rows), left // (len(sections) - n) - 3), 1)
        if left is not None:
            left -= most + 3
            if left < 0:
                break
        more = f"  ({len(rows) - most} more)" if most < len(rows) else ""
        parts += [Text(f"\n{title}{more}", style="bold"), _grid(columns, rows[:most])]
    return Group(*parts)


def head(top: Top) -> Text:
    """One line: how much of everything."""
    waiting = sum(queue.queued for queue in top.queues)
    more = "+" if any(queue.queued >= COUNTED for queue in top.queues) else ""
    alive = sum(worker.state in ("running", "draining") for worker in top.workers)
    lost = sum(worker.state == "lost" for worker in top.workers)
    text = Text.assemble(
        (f"{top.at.astimezone():%H:%M:%S}", "bold"),
        f"  {waiting:,}{more} waiting, {sum(queue.running for queue in top.queues):,} running on {alive} worker",
        "" if alive == 1 else "s",
        (f" ({lost} lost)", "red") if lost else "",
        f"; {sum(queue.ended_per_minute for queue in top.queues):,.0f} done a minute",
    )
    failed = sum(queue.failed_per_minute for queue in top.queues)
    if failed >= 0.5:
        text.append(f", {failed:,.0f} failed attempts", style="red")
    return text


def _grid(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Grid:
    kept = {"since": 12, "last": 14, "state": 8, "type": 12, "queue": 14, "job": 18}
    right = [name for name in NUMBERS if name in columns]
    return table(columns, rows, right=right, kept=kept, spare=("attempt", "dead", "slots", "tenants"))


def _queue(queue: TopQueue) -> tuple[Cell, ...]:
    told = Text("paused", style="yellow") if queue.paused else Text("open", style="green")
    if queue.paused and queue.pause_reason:
        told.append(f": {one_line(queue.pause_reason, 60)}")
    return (
        queue.name,
        _count(queue.queued),
        "–" if queue.oldest_seconds is None else length(queue.oldest_seconds),
        f"{queue.running:,}",
        _count(queue.dead_letters),
        f"{queue.ended_per_minute:,.0f}",
        Text(f"{queue.failed_per_minute:,.0f}", style="red" if queue.failed_per_minute >= 0.5 else ""),
        "–" if queue.p95_seconds is None else length(queue.p95_seconds),
        told,
    )


def _count(n: int) -> str:
    return f"{n:,}+" if n >= COUNTED else f"{n:,}"


def _running(job: RunningJob) -> tuple[Cell, ...]:
    attempt = f"{job.attempt}/{job.max_attempts}"
    worker = short_worker(job.worker_id) if job.worker_id else "–"
    return short(job.id), job.job_type, job.queue, length(job.seconds), attempt, worker


def _failure(failure: Failure, now: datetime) -> tuple[Cell, ...]:
    error = f"{failure.error_class.rpartition('.')[2]}: {one_line(failure.message, 200)}"
    since = length((now - failure.first_seen_at).total_seconds())
    last = relative(failure.last_seen_at, now)
    return last, since, f"{failure.count:,}", str(failure.tenants), failure.job_type, error


def _incident(incident: LiveIncident, now: datetime) -> tuple[Cell, ...]:
    told = plain(incident.title) + (" (acknowledged)" if incident.status == "acknowledged" else "")
    severity = Text(incident.severity, style=SEVERITIES.get(incident.severity, ""))
    return length((now - incident.opened_at).total_seconds()), severity, told


def _worker(worker: WorkerView, now: datetime) -> tuple[Cell, ...]:
    slots = worker.slots_text or ", ".join(worker.queues)
    seen = relative(worker.last_seen_at, now)
    return short_worker(worker.worker_id), state(worker.state), str(worker.running), slots, seen
