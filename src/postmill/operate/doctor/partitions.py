"""Are there partitions for now and for the weeks to come?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

FEWEST_AHEAD = 2
MOST_LIVE = 16


def check_partitions(probe: Probe) -> Finding:
    """Below two ahead something keeps upkeep from running; above sixteen in all, claims get dearer."""
    rows = probe.ask("doctor_partitions")
    ahead = min((row["ahead"] for row in rows), default=0)
    live = max((row["live"] for row in rows), default=0)
    summary = f"{live} live, {ahead} ahead"
    missing = [row["parent"] for row in rows if not row["current"]]
    if missing:
        advice = "the next enqueue makes them (slowly); a worker or postmill upkeep makes them ahead"
        return Finding("partitions", Level.WARN, f"none for now in: {', '.join(missing)}", advice, rows)
    if ahead < FEWEST_AHEAD:
        advice = "upkeep makes them; run a worker or postmill upkeep, and see what its log says"
        return Finding("partitions", Level.WARN, summary, advice, rows)
    if live > MOST_LIVE:
        advice = "more than 16 make each claim dearer; let upkeep prune, or choose a wider partition"
        return Finding("partitions", Level.WARN, summary, advice, rows)
    return Finding("partitions", Level.OK, summary, "", rows)
