"""Are the sums of what happened up to date? Statistics, SLAs and the console's charts are made of them."""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.operate.doctor.spans import span

LATE = 300.0
"""Seconds. Somebody's transaction of up to fifteen minutes may hold a count back for a while."""

MANY = 20_000


def check_rollups(probe: Probe) -> Finding:
    """How far behind, and how much is still to be summed up."""
    row = probe.one("doctor_rollups")
    seconds, parts = float(row["seconds"]), int(row["parts"])
    summary = f"{span(seconds)} behind, {parts:,}{'+' if parts > MANY else ''} rows to be summed up"
    if not row["somebody"]:
        return Finding("rollups", Level.OK, f"no worker lives, so nothing is summed up: {summary}", "", [row])
    if seconds > LATE or parts > MANY:
        advice = "the round rollup does it: see when it last ran, and what the logs of the workers say"
        return Finding("rollups", Level.WARN, summary, advice, [row])
    return Finding("rollups", Level.OK, summary, "", [row])
