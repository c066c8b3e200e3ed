"""The last page of the demo: what ran, what went wrong and healed, who was told, and whether all sums agree."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.homepage.demo.data import rows
from examples.homepage.demo.look import Standing, standing
from examples.homepage.demo.options import Options
from examples.homepage.demo.stage import Stage
from examples.homepage.demo.tables import done, families, plain
from examples.staging.programs import program

ERRORS = 10


def print_summary(console: Console, stage: Stage, data: Path) -> bool:
    """Print it; whether every job has ended, waits or runs, and all sums agree. The workers have ended."""
    now = standing(stage.conn, stage.since)
    console.rule(Text("What became of the jobs", "bold"))
    console.print(families(now), done(now, stage), _portals(now), sep="\n")
    console.print(_recovered(stage))
    console.print(_incidents(now))
    broken = _broken(stage)
    total, agree = now.total, now.agree()
    where = ", ".join(f"{total[status]} {status}" for status in sorted(total))
    console.print(Text.assemble((f"\n{total.total()} jobs", "bold"), f": {where}"), soft_wrap=True)
    for fault in broken:
        console.print(Text(fault, "bold red"), soft_wrap=True)
    if not agree:
        console.print(Text("the sums by type, by queue and by tenant are not one", "bold red"))
    if agree and not broken:
        console.print(
            Text("None lost, none twice: each has ended, waits or runs, and all sums agree.", "green")
        )
    console.print(_next(data), soft_wrap=True)
    return agree and not broken


def _broken(stage: Stage) -> list[str]:
    """What the doctor finds of jobs that are lost, in two places, or run by nobody."""
    report = stage.root.get("/doctor", only="invariants")
    return [f"{one['check']}: {one['summary']}" for one in report["checks"] if one["level"] != "ok"]


def _portals(now: Standing) -> Table:
    table = plain("Tenants", ("tenant",), ("done", "open", "given up"))
    for name, tally in sorted(now.by_tenant.items()):
        table.add_row(name, str(tally.jobs["succeeded"]), str(tally.open), str(tally.lost))
    return table


def _recovered(stage: Stage) -> Table:
    title, figures = (
        "What went wrong on the way, and what became of it",
        ("attempts", "made it", "wait", "given up"),
    )
    table = plain(title, ("type", "error"), figures)
    for row in rows(stage.conn, "recovered", since=stage.since)[:ERRORS]:
        waits = row["jobs"] - row["recovered"] - row["given_up"]
        error = Text(row["error"].splitlines()[0][:100])
        table.add_row(
            row["job_type"], error, str(row["attempts"]), str(row["recovered"]), str(waits), str(row["given_up"])
        )  # fmt: skip
    return table


def _incidents(now: Standing) -> Table:
    table = plain("Incidents", ("what", "opened", "closed", "told"))
    for incident in now.incidents:
        closed = f"{incident.resolved_at.astimezone():%H:%M:%S}" if incident.resolved_at else "open"
        opened = f"{incident.opened_at.astimezone():%H:%M:%S}"
        table.add_row(incident.title, opened, closed, ", ".join(incident.told))
    return table


def _next(data: Path) -> Text:
    text = Text.assemble(("\nEverything is kept in ", "bold"), (str(data), "cyan"), "\n")
    text.append("What to try next\n", "bold")
    postmill = program("postmill")
    elsewhere = "" if data == Options().data.absolute() else f" --data '{data}'"
    for what, command in (
        (
            "Again, on what is there, until Ctrl-C:",
            f"{program('python')} -m examples.homepage{elsewhere}",
        ),
        ("Meanwhile, in a second terminal here:", f"{postmill} top"),
        ("… and what there is of jobs:", f"{postmill} jobs list"),
    ):
        text.append(f"  {what}\n")
        text.append(f"    {command}\n", "cyan")
    text.right_crop(1)
    return text
