"""How far behind are the servers that follow this one?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row
from postmill.operate.doctor.spans import span

LATE = 60.0
"""Seconds after which a follower is worth a word: what it would lose, or show as old."""


def check_replication(probe: Probe) -> Finding:
    """The lag of each."""
    rows = probe.ask("doctor_replication")
    late = [row for row in rows if row["seconds"] is not None and row["seconds"] > LATE]
    if not rows:
        return Finding("replication", Level.OK, "no other server follows this one")
    if late:
        told = "; ".join(f"{row['name']} is {span(row['seconds'])} behind" for row in late)
        advice = "a slow standby, a full disk there, or a query that holds its replay up"
        return Finding("replication", Level.WARN, told, advice, rows)
    return Finding("replication", Level.OK, "; ".join(map(_said, rows)), "", rows)


def _said(row: Row) -> str:
    behind = "up to date" if row["seconds"] is None else f"{row['seconds']:.1f} s behind"
    return f"{row['name']}: {behind}"
