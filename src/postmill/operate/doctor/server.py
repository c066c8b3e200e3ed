"""Which server is it, can it be written to, and is it set up so that nothing is lost?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row

OLDEST = 150000
"""PostgreSQL 15."""

ASKED = (
    "autovacuum",
    "default_transaction_isolation",
    "fsync",
    "full_page_writes",
    "idle_in_transaction_session_timeout",
    "statement_timeout",
    "synchronous_commit",
    "track_activities",
    "transaction_timeout",
)

# Setting → (values that are fine, level otherwise, why it matters).
_WANTED: dict[str, tuple[frozenset[str], Level, str]] = {
    "autovacuum": (
        frozenset({"on"}),
        Level.FAIL,
        "the hot tables turn over completely and need autovacuum = on",
    ),
    "fsync": (
        frozenset({"on"}),
        Level.FAIL,
        "with fsync = off a crash of the machine loses the whole database",
    ),
    "full_page_writes": (frozenset({"on"}), Level.WARN, "off, a crash of the machine can tear pages"),
    "synchronous_commit": (
        frozenset({"on", "local", "remote_write", "remote_apply"}),
        Level.WARN,
        "off, a crash of the server forgets commits that were already reported",
    ),
    "default_transaction_isolation": (
        frozenset({"read committed"}),
        Level.WARN,
        "claims under limits need read committed; set it for the role of the workers",
    ),
    "track_activities": (frozenset({"on"}), Level.WARN, "off, nobody can see who holds the vacuum horizon"),
}


def check_server(probe: Probe) -> Finding:
    """Version, role and whether it takes writes."""
    row = probe.one("doctor_server")
    where = f"PostgreSQL {row['version'].split(' ')[0]} ({row['address']}{', TLS' if row['ssl'] else ''})"
    where += f", database {row['database']}, role {row['role']}"
    if row["version_num"] < OLDEST:
        return Finding("server", Level.FAIL, where, "Postmill needs PostgreSQL 15 or newer", [row])
    if row["in_recovery"]:
        return Finding(
            "server", Level.FAIL, f"{where}: a read-only standby", "workers need the primary", [row]
        )
    if row["clock_offset"] not in (None, "", "0"):
        advice = f"postmill.clock_offset = {row['clock_offset']} shifts the clock here; it is meant for tests"
        return Finding("server", Level.WARN, where, advice, [row])
    return Finding("server", Level.OK, where, "", [row])


def check_settings(probe: Probe) -> Finding:
    """Settings of the server that decide whether jobs are kept and tables stay small."""
    rows = probe.ask("doctor_settings", list(ASKED))
    level, advice = Level.OK, []
    for row in rows:
        fine, otherwise, why = _WANTED.get(row["name"], (None, Level.OK, ""))
        if fine is not None and row["setting"] not in fine:
            level = Level.FAIL if Level.FAIL in (level, otherwise) else otherwise
            advice.append(f"{row['name']} = {row['setting']}: {why}")
        elif row["name"] in ("statement_timeout", "transaction_timeout") and 0 < int(row["setting"]) < 10_000:
            level = level if level is Level.FAIL else Level.WARN
            advice.append(
                f"{row['name']} = {_pretty(row)}: too short for a round of upkeep; give workers 10 s or more"
            )
    shown = ", ".join(
        _pretty_pair(row) for row in rows if row["name"] in ("autovacuum", "fsync", "synchronous_commit")
    )
    return Finding("settings", level, shown, "; ".join(advice), rows)


def _pretty(row: Row) -> str:
    return f"{row['setting']} {row['unit']}".strip()


def _pretty_pair(row: Row) -> str:
    return f"{row['name']} {_pretty(row)}"
