"""Queues in which jobs wait for a worker that nobody has started."""

from __future__ import annotations

from collections.abc import Collection

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.operate.doctor.spans import span

COUNTED = 10_000
"""Tickets of one queue that are counted; more are told as `10,000+`."""

SHOWN = 3


def check_unserved(probe: Probe) -> Finding:
    """Jobs that are due in queues that no live worker serves."""
    rows = probe.ask("doctor_unserved", COUNTED)
    if not rows:
        return Finding("unserved", Level.OK, "every queue with waiting jobs has a live worker")
    parts = [
        f"{min(row['waiting'], COUNTED):,}{'+' if row['more'] else ''} in {row['queue']}"
        f" (for {span(row['seconds'])})"
        for row in rows[:SHOWN]
    ]
    summary = "jobs wait in queues that no live worker serves: " + ", ".join(parts)
    return Finding(
        "unserved",
        Level.WARN,
        summary + (" …" if len(rows) > SHOWN else ""),
        what_to_start(rows[0]["queue"], rows[0]["kinds"]),
        rows,
    )


def what_to_start(queue: str, kinds: Collection[str]) -> str:
    """The command that serves a queue with job types of these kinds (`function`, `command`, `http`)."""
    if set(kinds) == {"http"}:
        return f"start the program that works on queue {queue} over HTTP"
    module = "" if set(kinds) == {"command"} else " MODULE"
    return f"start one: postmill worker{module} --queues {queue}"
