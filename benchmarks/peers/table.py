"""The results as a Markdown table, for the docs and the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

System = Mapping[str, Any]
Results = Mapping[str, Any]

NOT_RUN = "not run"


def cell(system: System, case: str, show: Callable[[Mapping[str, Any]], str]) -> str:
    """One figure; ``not run`` where it could not be had, a dash where it was not asked for."""
    if case in system["not_run"]:
        return NOT_RUN
    figures = system["figures"].get(case)
    return show(figures) if figures else "–"


def _rate(key: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda figures: f"{figures[key]:,.0f}"


def _pick_up(figures: Mapping[str, Any]) -> str:
    return f"{figures['p50_ms']:.1f} / {figures['p99_ms']:.1f}"


COLUMNS: tuple[tuple[str, Callable[[System], str]], ...] = (
    ("System", lambda system: f"{system['name']} {system['version']}"),
    ("Keeps history", lambda system: "yes" if system["history"] else "no"),
    ("Drain, 1 process (jobs/s)", lambda system: cell(system, "drain_1", _rate("jobs_per_s"))),
    ("Drain, 2 processes (jobs/s)", lambda system: cell(system, "drain_2", _rate("jobs_per_s"))),
    ("Bulk enqueue (rows/s)", lambda system: cell(system, "bulk", _rate("rows_per_s"))),
    ("Single enqueue (commits/s)", lambda system: cell(system, "single", _rate("commits_per_s"))),
    ("Idle pick-up p50 / p99 (ms)", lambda system: cell(system, "latency", _pick_up)),
)


def markdown(results: Results) -> str:
    """The table, what it was measured on, and every system's settings."""
    lines = [
        f"| {' | '.join(title for title, _ in COLUMNS)} |",
        f"| --- | --- | {' | '.join('---:' for _ in COLUMNS[2:])} |",
    ]
    lines += [f"| {' | '.join(show(system) for _, show in COLUMNS)} |" for system in results["systems"]]
    lines += ["", _measured(results), ""]
    lines += [line for system in results["systems"] for line in _remarks(system)]
    return "\n".join(lines) + "\n"


def _measured(results: Results) -> str:
    machine, server, run = results["machine"], results["server"], results["run"]
    durable = ", ".join(f"`{name} = {server['settings'][name]}`" for name in ("fsync", "synchronous_commit"))
    return (
        f"Measured {results['at'][:10]} in one run, one system after the other, each case in a database "
        f"of its own: PostgreSQL {server['version']} ({durable}) on {machine['cores']} cores and "
        f"{machine['memory_gib']} GiB shared by server and workers. Drain of {run['jobs']:,} no-op jobs, "
        f"{run['commits']:,} single commits from one client, {run['samples']:,} pick-ups "
        "(from the enqueuing call's return to the handler's start)."
    )


def _remarks(system: System) -> list[str]:
    settings = f"`{json.dumps(system['settings'])}`" if system["settings"] else "its defaults"
    text = f"- {system['name']} {system['version']}, {system['runtime']}; settings: {settings}"
    drained = system["figures"].get("drain_1", {}).get("jobs")
    if system.get("most_jobs") and drained:
        text += f"; drained {drained:,} jobs only"
    reasons: dict[str, list[str]] = {}
    for case, reason in system["not_run"].items():
        reasons.setdefault(reason, []).append(case)
    for reason, cases in reasons.items():
        text += f"; {', '.join(cases)} not run: {reason.rstrip('.')}"
    return [text + "."]
