"""Is there a pooler between us and the server?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

TRIES = 3


def check_pooler(probe: Probe) -> Finding:
    """The process that answers is not the one that the connection was told: pgbouncer makes up its own."""
    told = probe.conn.info.backend_pid
    answered = sorted({int(probe.one("doctor_backend")["pid"]) for _ in range(TRIES)})
    rows = [{"told_pid": told, "answered_pids": answered}]
    if answered == [told]:
        return Finding("pooler", Level.OK, "a direct connection", "", rows)
    if probe.listen is not None:
        return Finding(
            "pooler", Level.OK, "a pooler (pgbouncer?) is in between; LISTEN has its own URL", "", rows
        )
    advice = "give workers a direct listen_url; without one they fall back to polling"
    return Finding("pooler", Level.WARN, "a pooler (pgbouncer?) is in between", advice, rows)
