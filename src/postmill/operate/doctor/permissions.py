"""What may this role do?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

RIGHTS = ("enqueue", "work", "operate", "migrate")


def check_permissions(probe: Probe) -> Finding:
    """Enqueue (an application), work (a worker), operate (a person), migrate (the owner)."""
    row = probe.one("doctor_permissions")
    may = [right for right in RIGHTS if row.get(right)]
    if not row.get("usage"):
        advice = f"as the owner: select {probe.schema}.grant_application('<role>')"
        return Finding(
            "permissions", Level.FAIL, f"this role may not use schema {probe.schema}", advice, [row]
        )
    if not may:
        advice = f"as the owner: select {probe.schema}.grant_application('<role>')"
        return Finding("permissions", Level.FAIL, "this role may do nothing here", advice, [row])
    summary = f"this role may {', '.join(may)}"
    lacks = [right for right in RIGHTS if right not in may]
    if lacks:
        return Finding("permissions", Level.OK, f"{summary}; not {', '.join(lacks)}", "", [row])
    return Finding("permissions", Level.OK, summary, "", [row])
