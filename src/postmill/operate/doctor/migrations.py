"""Is the schema there, and is it the one that this version of Postmill needs?"""

from __future__ import annotations

from postmill.domain.errors import SchemaMissing, SchemaTooNew, SchemaTooOld
from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe
from postmill.schema.check import check
from postmill.schema.status import MigrationChanged


def check_migrations(probe: Probe) -> Finding:
    """Applied, pending, changed after the fact, or newer than we know."""
    status = check(probe.conn, probe.schema)
    row = {
        "schema": probe.schema,
        "version": status.version,
        "pending": [migration.name for migration in status.pending],
        "newer": [applied.name for applied in status.unknown],
    }
    try:
        status.require()
    except (SchemaMissing, SchemaTooOld, SchemaTooNew, MigrationChanged) as fault:
        message, _, advice = str(fault).partition("; ")
        return Finding("migrations", Level.FAIL, message, advice, [row])
    summary = f"schema {probe.schema} is at version {status.version}"
    if status.unknown:
        advice = "a newer Postmill migrated it; its changes are safe for this one"
        return Finding(
            "migrations", Level.OK, f"{summary}, {len(status.unknown)} newer than ours", advice, [row]
        )
    return Finding("migrations", Level.OK, summary, "", [row])
