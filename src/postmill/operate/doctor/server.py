"""Which server is it, can it be written to, and is it set up so that nothing is lost?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row

OLDEST = 150000
"""PostgreSQL 15."""

Wanted = dict[str, tuple[frozenset[str], Level, str]]
"""Setting → (values that are fine, level otherwise, why it matters)."""

_WANTED: Wanted = {
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
    "track_activities": (frozenset({"on"}), Level.WARN, "off, nobody can see who holds the vacuum horizon"),
}

# A worker's connections set these for themselves. Through a pooler they cannot, so role and database must do.
_WANTED_BEHIND_A_POOLER: Wanted = {
    "array_nulls": (frozenset({"on"}), Level.FAIL, "workers and clients send arrays with NULL in them"),
    "default_transaction_isolation": (
        frozenset({"read committed"}),
        Level.WARN,
        "a claim above read committed fails whenever another worker is quicker",
    ),
    "default_transaction_read_only": (frozenset({"off"}), Level.FAIL, "workers write"),
}

_TOO_SHORT = 10_000
_LIMITS = (
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "lock_timeout",
    "statement_timeout",
    "transaction_timeout",
)
"""In milliseconds."""

ASKED = (*_WANTED, *_WANTED_BEHIND_A_POOLER, *_LIMITS)


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
    pooled = probe.conn.info.backend_pid != probe.one("doctor_backend")["pid"]
    wanted = _WANTED | (_WANTED_BEHIND_A_POOLER if pooled else {})
    level, advice = Level.OK, []
    for row in rows:
        fine, otherwise, why = wanted.get(row["name"], (None, Level.OK, ""))
        if fine is not None and row["setting"] not in fine:
            level = Level.FAIL if Level.FAIL in (level, otherwise) else otherwise
            advice.append(f"{row['name']} = {row['setting']}: {why}")
        elif pooled and row["name"] in _LIMITS and 0 < int(row["setting"]) < _TOO_SHORT:
            level = level if level is Level.FAIL else Level.WARN
            advice.append(
                f"{row['name']} = {_pretty(row)}: too short for workers behind a pooler; give them 10 s or more"
            )
    shown = ", ".join(
        _pretty_pair(row) for row in rows if row["name"] in ("autovacuum", "fsync", "synchronous_commit")
    )
    return Finding("settings", level, shown, "; ".join(advice), rows)


def _pretty(row: Row) -> str:
    return f"{row['setting']} {row['unit']}".strip()


def _pretty_pair(row: Row) -> str:
    return f"{row['name']} {_pretty(row)}"
