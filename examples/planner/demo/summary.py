"""The demo's last page."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from examples.planner.demo.stage import Stage
from examples.planner.demo.story import Facts
from examples.planner.statements import text
from examples.staging.programs import up


def print_summary(console: Console, running: Stage, facts: Facts, data: Path) -> bool:
    """Tells what was done, and returns whether everything was as it should be."""
    answers = sorted(facts.answers)
    median, slow = answers[len(answers) // 2], answers[int(len(answers) * 0.95)]
    console.print(
        f"[bold]{len(answers)} writes[/], answered in {median:.0f} ms (median), {slow:.0f} ms (95 %); none waited for a job.",
        highlight=False,
    )
    table = Table(title="Queues, 95 % finished within", title_justify="left", title_style="bold")
    for column in ("queue", "jobs", "succeeded", "SLO", "95 % took"):
        table.add_column(column, justify="left" if column == "queue" else "right")
    org = str(running.api.base_url).rstrip("/").rpartition("/")[2]
    for queue, jobs, succeeded, slo, took in running.conn.execute(text("slo"), {"org": org}).fetchall():
        table.add_row(queue, str(jobs), str(succeeded), f"{slo:g} s", f"{took:.2f} s")
        if took > slo:
            facts.faults.append(f"{queue} took {took:.1f} s, more than {slo:g} s")
    console.print(table)
    for fault in facts.faults:
        console.print(f"[bold red]Not as it should be:[/] {fault}", highlight=False)
    if not facts.faults:
        console.print("[bold green]Every act ended as it should.[/]")
    console.print(
        f"\nEverything is kept in [cyan]{data}[/]. To look at it, with a worker and the console:",
        soft_wrap=True,
    )
    console.print(
        f"  [cyan]{up('planner', data)}[/]",
        soft_wrap=True,
        highlight=False,
    )
    return not facts.faults
