"""Moves of tenants between cells: is anybody at them?"""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row
from postmill.operate.doctor.spans import span

QUIET = 15.0
"""Seconds without a word from a mover after which a move that nobody holds is worth one: a server looks for its own
every ten."""

STILL = 60.0
"""Seconds without a word from a mover that is there, while nothing comes in for the tenant, after which it may stand still."""


def check_moves(probe: Probe) -> Finding:
    """A mover that is gone leaves the tenant as it was at that moment: its new jobs wait, or are refused."""
    rows = probe.ask("doctor_moves")
    left = [row for row in rows if row["mover"] is None and row["quiet_seconds"] > QUIET]
    left += [row for row in rows if row["mover"] and row["closed"] and row["quiet_seconds"] > STILL]
    if not left:
        on = f"{len(rows)} go on" if rows else "no tenant moves"
        return Finding("moves", Level.OK, on, "", rows)
    level = Level.FAIL if any(row["closed"] for row in left) else Level.WARN
    return Finding("moves", level, "; ".join(map(_told, left)), "; ".join(map(_advice, left)), rows)


def _told(row: Row) -> str:
    state = {
        "prepare": "nothing is moved yet",
        "copy": "it works in its old cell",
        "drain": "its new jobs wait",
        "switch": "its new jobs wait",
        "clean": "it works in its new cell, and old rows are left behind",
    }.get(row["step"], "nothing comes in for it")
    if row["closed"]:
        state = "nothing comes in for it"
    if row["mover"]:
        return (
            f"who moves {row['tenant']} from {row['from_cell']} to {row['to_cell']} has said nothing for"
            f" {span(row['quiet_seconds'])}, at step {row['step']}: {state}"
        )
    return (
        f"nobody moves {row['tenant']} from {row['from_cell']} to {row['to_cell']} any more, for"
        f" {span(row['quiet_seconds'])}, at step {row['step']}: {state}"
    )


def _advice(row: Row) -> str:
    if row["mover"]:
        return (
            f"where it stands still, end it, or its session here: select pg_terminate_backend({row['mover']});"
            f" then postmill cells resume {row['id']}"
        )
    if row["status"] == "aborting":
        return f"postmill cells abort {row['id']}"
    back = row["step"] in ("prepare", "copy", "drain", "switch")
    return f"postmill cells resume {row['id']}" + (f", or postmill cells abort {row['id']}" if back else "")
