"""Queues that stand still by order, tables that vacuum does not keep small, connections that run out."""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

DEAD = 1_000_000
"""Dead rows of one hot table that are worth a word; the claim walks none of them, discovery does."""

FULL = 0.9


def check_queues(probe: Probe) -> Finding:
    """Paused queues with work in them."""
    rows = probe.ask("doctor_queues")
    paused = [row for row in rows if row["paused"]]
    if not paused:
        return Finding(
            "queues", Level.OK, f"{len(rows)} queue{'' if len(rows) == 1 else 's'}, none paused", "", rows
        )
    names = ", ".join(f"{row['name']} ({row['pause_reason'] or 'no reason given'})" for row in paused)
    level = Level.WARN if any(row["waiting"] for row in paused) else Level.OK
    advice = f"when it is over: postmill queues resume {paused[0]['name']}" if level is Level.WARN else ""
    return Finding("queues", level, f"paused: {names}", advice, rows)


def check_dead_rows(probe: Probe) -> Finding:
    """Dead rows in the tables that turn over."""
    rows = probe.ask("doctor_dead_rows")
    bad = [row for row in rows if row["dead"] > DEAD]
    if bad:
        names = ", ".join(f"{row['name']} ({row['dead']:,})" for row in bad)
        advice = "somebody pins the horizon (see above), or autovacuum does not keep up: vacuum them by hand"
        return Finding("dead_rows", Level.WARN, f"many dead rows: {names}", advice, rows)
    total = sum(row["dead"] for row in rows)
    size = sum(row["bytes"] for row in rows) / 2**20
    return Finding("dead_rows", Level.OK, f"{total:,} dead rows, hot tables take {size:,.1f} MiB", "", rows)


def check_connections(probe: Probe) -> Finding:
    """Connections in use, and transactions that stand idle."""
    row = probe.one("doctor_connections")
    summary = f"{row['used']} of {row['most']} connections, {row['ours']} of them Postmill's"
    if row["used"] >= FULL * row["most"]:
        return Finding("connections", Level.WARN, summary, "raise max_connections or use a pooler", [row])
    if row["idle_in_transaction"]:
        n = row["idle_in_transaction"]
        advice = "an application forgot to end its transaction; they may hold jobs back and pin the horizon"
        return Finding("connections", Level.WARN, f"{summary}, {n} idle in transaction", advice, [row])
    return Finding("connections", Level.OK, summary, "", [row])
