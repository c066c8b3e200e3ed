"""Who pins the vacuum horizon, and since when?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row
from postmill.operate.doctor.spans import span

LONG = 300.0
"""Seconds after which a holder is worth a word. Postmill stays flat under a pin; other tables may not."""

SHOWN = 5


def check_horizon(probe: Probe) -> Finding:
    """The oldest transactions, prepared transactions and replication slots."""
    rows = probe.ask("doctor_horizon", SHOWN)
    old = [row for row in rows if row["seconds"] is None or row["seconds"] > LONG]
    if not rows:
        return Finding("horizon", Level.OK, "nobody pins the vacuum horizon")
    if not old:
        longest = max(row["seconds"] for row in rows)
        return Finding("horizon", Level.OK, f"the oldest transaction began {span(longest)} ago", "", rows)
    return Finding(
        "horizon", Level.WARN, "; ".join(map(_said, old)), "; ".join(dict.fromkeys(map(_advice, old))), rows
    )


def _said(row: Row) -> str:
    who = f"{row['kind']} {row['who']}"
    by = ", ".join(str(row[key]) for key in ("role", "database", "application", "state") if row[key])
    since = f"since {span(row['seconds'])}" if row["seconds"] is not None else "since nobody knows when"
    return f"{who} ({by}) pins the horizon {since}, {row['held']:,} transactions back"


def _advice(row: Row) -> str:
    if row["kind"] == "prepared transaction":
        return f"end it: commit prepared or rollback prepared '{row['who']}' in database {row['database']}"
    if row["kind"] == "replication slot":
        return "a slot that nobody reads should be dropped: select pg_drop_replication_slot(…)"
    if row["kind"] == "standby":
        return "a query on a standby with hot_standby_feedback holds it; end that query"
    if row["state"].startswith("idle in transaction"):
        return (
            "end it with pg_terminate_backend(pid); idle_in_transaction_session_timeout prevents the next one"
        )
    return "a long query; if it hangs, pg_terminate_backend(pid)"
