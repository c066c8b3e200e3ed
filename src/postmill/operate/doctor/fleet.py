"""The workers: who lives, who vanished, who serves what, and whether upkeep runs."""

from __future__ import annotations

from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe, Row
from postmill.operate.doctor.spans import span

ROUND_OVERDUE = {
    "promote": 60.0,
    "schedule": 60.0,
    "deliver": 60.0,
    "rescue": 120.0,
    "escalate": 120.0,
    "operate": 120.0,
    "prune": 7200.0,
    "sweep": 7200.0,
    "monitor": 600.0,
}
"""Seconds after which a round that nobody ran is worth a word, where somebody lives who could."""


def check_workers(probe: Probe) -> Finding:
    """Live sessions, and those that went without a word."""
    rows = probe.ask("doctor_fleet")
    alive = [row for row in rows if row["alive"]]
    gone = [row for row in rows if not row["alive"]]
    if not alive and not gone:
        advice = "start one: postmill worker MODULE (or postmill up MODULE on your own machine)"
        return Finding("workers", Level.WARN, "no worker is running", advice)
    summary = f"{len(alive)} alive" + (f", {sum(row['draining'] for row in alive)} draining" if alive else "")
    if gone:
        names = ", ".join(f"{row['worker_id']} ({span(row['silent_seconds'])})" for row in gone[:3])
        advice = "their jobs are taken back when the lease is over" + (
            "" if alive else "; start a worker for that"
        )
        return Finding("workers", Level.WARN, f"{summary}; silent: {names}", advice, rows)
    versions = sorted({row["version"] for row in alive})
    if len(versions) > 1:
        advice = "fine during a rollout; otherwise restart the old ones"
        return Finding("workers", Level.WARN, f"{summary}; versions {', '.join(versions)}", advice, rows)
    return Finding("workers", Level.OK, summary, "", rows)


def check_job_types(probe: Probe) -> Finding:
    """Active job types that no live worker serves."""
    rows = probe.ask("doctor_types")
    if not rows:
        return Finding("job_types", Level.OK, "every active job type is served by a live worker")
    waiting = [row for row in rows if row["waiting"]]
    shown = waiting or rows
    names = ", ".join(row["job_type"] for row in shown[:6]) + (" …" if len(shown) > 6 else "")
    if waiting:
        advice = "start a worker with the module that defines them, or switch the job types off"
        return Finding(
            "job_types", Level.WARN, f"jobs wait, and no live worker serves: {names}", advice, rows
        )
    if not rows[0]["workers"]:
        return Finding("job_types", Level.OK, f"nothing waits; no worker for: {names}", "", rows)
    advice = "an old name? switch it off or start a worker with its module"
    return Finding("job_types", Level.WARN, f"no live worker serves: {names}", advice, rows)


def overdue(row: Row) -> bool:
    """Whether a round could have been run for so long, by somebody who lives, and was not, that it is worth a word."""
    known = bool(row["somebody"]) and row["seconds"] is not None and row["waited"] is not None
    return known and row["waited"] > ROUND_OVERDUE.get(row["name"], 7200.0)


def check_upkeep(probe: Probe) -> Finding:
    """Promoter, rescuer, pruner, sweeper, monitor: did they run lately?"""
    rows = probe.ask("doctor_upkeep")
    if not any(row["somebody"] for row in rows):
        return Finding("upkeep", Level.OK, "no worker lives, so no round runs", "", rows)
    late = [row for row in rows if overdue(row)]
    if late:
        names = ", ".join(f"{row['name']} ({span(row['seconds'])} ago)" for row in late)
        advice = "workers live and do not run it: their log says why"
        return Finding("upkeep", Level.WARN, f"overdue: {names}", advice, rows)
    ran = [row["name"] for row in rows if row["seconds"] is not None]
    return Finding("upkeep", Level.OK, f"on time: {', '.join(ran)}" if ran else "nothing ran yet", "", rows)
