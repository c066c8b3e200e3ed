"""Law 5, looked at: every job has exactly one ticket or outcome."""

from __future__ import annotations

from collections import Counter

from postmill.operate import invariants
from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

MOST = 100
SHOWN = 3


def check_invariants(probe: Probe) -> Finding:
    """Lost jobs, jobs in two places, ghosts. None has ever been seen outside of a test that made one."""
    found = invariants.check(probe.conn, probe.schema, lease_seconds=probe.lease, most=MOST)
    if not found:
        return Finding("invariants", Level.OK, "every job has exactly one ticket or outcome")
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(v.kind for v in found).items()))
    ids = ", ".join(str(violation.job_id) for violation in found[:SHOWN]) + (
        " …" if len(found) > SHOWN else ""
    )
    rows = [{"kind": v.kind, "job_id": str(v.job_id), "detail": v.detail} for v in found]
    advice = "this is a defect: keep the server's and the workers' logs, and report it"
    return Finding("invariants", Level.FAIL, f"{kinds}: {ids}", advice, rows)
