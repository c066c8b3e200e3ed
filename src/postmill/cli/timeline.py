"""The attempts of one job, drawn on one line of time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.text import Text

from postmill.cli.ages import between, length
from postmill.cli.ids import short_worker
from postmill.cli.reasons import DECISIONS
from postmill.cli.tables import Grid, state, table
from postmill.cli.text import one_line
from postmill.store.job_rows import AttemptView

WIDTH = 32

MARKS = {"succeeded": "█", "running": "▓"}
OTHER = "▒"


def timeline(attempts: Sequence[AttemptView], begin: datetime, end: datetime) -> Grid:
    """One row per execution: its bar between the making of the job and its end (or now), and why it ended."""
    rows = []
    previous: AttemptView | None = None
    for attempt in attempts:
        waited = attempt.started_at - (previous.finished_at or begin if previous else begin)
        rows.append(
            (
                str(attempt.run),
                state(attempt.status),
                bar(attempt, begin, end),
                length(max(waited.total_seconds(), 0.0)),
                between(attempt.started_at, attempt.finished_at or end),
                short_worker(attempt.worker_id),
                _why(attempt),
            )
        )
        previous = attempt
    return table(
        ("#", "status", "when", "waited", "ran", "worker", "why"), rows, right=("#", "waited", "ran")
    )


def bar(attempt: AttemptView, begin: datetime, end: datetime, width: int = WIDTH) -> Text:
    """The attempt as a block on a line from begin to end; at least one character, however short it was."""
    whole = max(end - begin, timedelta(microseconds=1))
    start = _place((attempt.started_at - begin) / whole, width - 1)
    stop = _place(((attempt.finished_at or end) - begin) / whole, width)
    stop = max(stop, start + 1)
    mark = MARKS.get(attempt.status, OTHER)
    line = Text("·" * start, style="dim")
    line.append(mark * (stop - start), style=state(attempt.status).style)
    return line.append("·" * (width - stop), style="dim")


def _place(share: float, width: int) -> int:
    return min(max(int(share * width), 0), width)


def _why(attempt: AttemptView) -> str:
    said = (attempt.error_class or "").rpartition(".")[2]
    if attempt.error_message and attempt.error_class not in DECISIONS:
        said += (": " if said else "") + one_line(attempt.error_message, 120)
    if attempt.exit_code is not None and attempt.exit_code != 0:
        said += f" (exit code {attempt.exit_code})"
    return said
