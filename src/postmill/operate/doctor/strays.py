"""Jobs that wait where their type is no longer at home: nobody may be serving that queue any more."""

from __future__ import annotations

from dataclasses import asdict

from postmill.bind import run
from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.store.moving import strays

SHOWN = 3


def check_strays(probe: Probe) -> Finding:
    """Jobs that wait in another queue than their type's, among the oldest."""
    found = run(probe.conn, strays(schema=probe.schema))
    waiting = [some for some in found if some.waiting]
    if not waiting:
        return Finding("strays", Level.OK, "every job waits in the queue of its type")
    parts = [
        f"{some.waiting:,} of {some.job_type} in {some.queue} (its queue is {some.home})"
        for some in waiting[:SHOWN]
    ]
    summary = "jobs wait in another queue than their type's: " + ", ".join(parts)
    advice = f"move them: postmill queues move {waiting[0].job_type}"
    return Finding(
        "strays",
        Level.WARN,
        summary + (" …" if len(waiting) > SHOWN else ""),
        advice,
        [asdict(some) for some in waiting],
    )
