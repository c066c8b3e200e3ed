"""What is wrong by now: open incidents."""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.operate.doctor.spans import span


def check_incidents(probe: Probe) -> Finding:
    """How many are not over, since when the oldest, and how many nobody has taken."""
    [row] = rows = probe.ask("doctor_incidents")
    if not row["n"]:
        return Finding("incidents", Level.OK, "none is open", "", rows)
    more = [f"{row['critical']} critical"] if row["critical"] else []
    more += [f"{row['untaken']} taken by nobody"] if row["untaken"] else []
    told = f" ({', '.join(more)})" if more else ""
    summary = f"{row['n']} open{told}; the oldest since {span(row['oldest_seconds'])}: {row['oldest']}"
    level = Level.WARN if row["untaken"] or row["critical"] else Level.OK
    return Finding("incidents", level, summary, "postmill incidents list", rows)
