"""Does history get into the cold archive, where it has to?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.operate.doctor.spans import span

LATE = 7200.0
"""Seconds after which a unit that waits is worth a word, though nothing failed."""


def check_archive(probe: Probe) -> Finding:
    """What waits for the archive is not dropped, so that a broken archive fills the disk."""
    row = probe.one("doctor_archive")
    if not row["required"]:
        if row["waiting"]:
            return Finding(
                "archive", Level.OK, f"off; {row['waiting']} units that waited are dropped", "", [row]
            )
        return Finding("archive", Level.OK, "none is in use", "", [row])
    if not row["waiting"]:
        return Finding("archive", Level.OK, "nothing waits", "", [row])
    waits = f"{row['waiting']} wait, the oldest for {span(row['oldest_seconds'])}; nothing of them is dropped"
    if row["failing"]:
        advice = "see to the place that archive.url names; what waits is tried again within an hour"
        return Finding(
            "archive", Level.FAIL, f"{row['failing']} failed: {row['error']}; {waits}", advice, [row]
        )
    if row["oldest_seconds"] > LATE:
        advice = "run a worker with archive.url, or give the archive up: postmill archive off"
        return Finding("archive", Level.WARN, waits, advice, [row])
    return Finding("archive", Level.OK, waits, "", [row])
