"""The last page of the demo: what each tenant has, how right its tags are, what ran, when the next night comes."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from examples.photos.demo.contact_sheet import Print, contact_sheet
from examples.photos.demo.progress import standing
from examples.photos.demo.stage import Stage
from examples.photos.demo.story import nightly
from examples.photos.demo.tenants import Tenant
from examples.photos.library import Library
from examples.photos.statements import run
from examples.staging.programs import program

GOOD = 0.7
"""Precision and recall from which the demo calls its tags good."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Of the tags of one tenant, on pictures that nobody learned from."""

    pictures: int
    precision: float
    recall: float

    @property
    def good(self) -> bool:
        """Whether they can be shown."""
        return self.precision >= GOOD and self.recall >= GOOD

    def __str__(self) -> str:
        return f"{self.precision:.0%} right, {self.recall:.0%} found ({self.pictures} pictures)"


def print_summary(console: Console, stage: Stage, data: Path) -> bool:
    """Print it; whether all is well."""
    console.rule(Text("What became of the pictures", "bold"))
    table = Table(title="Tenants", title_justify="left", title_style="bold")
    for column in (
        "tenant",
        "pictures",
        "described in words",
        "learned: on held-out pictures",
        "and on new ones",
        "jobs",
    ):
        table.add_column(column)
    fine = True
    for tenant in stage.tenants:
        now = standing(stage, tenant)
        rows = run(stage.conn, "tagged_pictures", tenant_id=tenant.id).fetchall()
        unseen = [row for row in rows if not row[5]]
        trained, zeroshot = _quality(tenant, unseen, 3), _quality(tenant, rows, 4)
        accuracies = [
            row[5] for row in run(stage.conn, "keyword_models", tenant_id=tenant.id, model="siglip")
        ]
        learned = f"{statistics.mean(accuracies):.0%}, {len(accuracies)} keywords" if accuracies else "–"
        fine = fine and trained.good and zeroshot.good and now.open == now.lost == 0
        jobs = f"{now.jobs['succeeded']} done" + (f", {now.lost} failed" if now.lost else "")
        table.add_row(tenant.slug, str(now.pictures), str(zeroshot), learned, str(trained), jobs)
    console.print(table)
    console.print(_commands(stage))
    console.print(_workers(stage))
    for tenant in stage.tenants:
        console.print(_night(tenant), soft_wrap=True)
    for tenant in stage.tenants:
        place = _sheet(stage, tenant, data)
        console.print(Text.assemble(("Contact sheet  ", "bold"), (str(place), "cyan")), soft_wrap=True)
    console.print(_next(data), soft_wrap=True)
    return fine


def _quality(tenant: Tenant, rows: list[Any], column: int) -> Quality:
    truth = tenant.account.truth
    said = sum(len(row[column]) for row in rows)
    true = sum(len(truth[row[1]]) for row in rows)
    right = sum(len(truth[row[1]] & set(row[column])) for row in rows)
    return Quality(len(rows), right / max(said, 1), right / max(true, 1))


def _commands(stage: Stage) -> Table:
    """What ran, as the super admin sees it across the tenants."""
    jobs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for job in stage.root.every("/jobs"):
        jobs[job["definition_key"]].append(job)
    table = Table(title="Commands, of all tenants", title_justify="left", title_style="bold")
    for column in ("command", "by event", "by hand", "tried again", "half began within", "half took"):
        table.add_column(column, justify="left" if column == "command" else "right")
    for key, some in sorted(jobs.items()):
        ended = [job for job in some if job["finished_at"]]
        sources = [job["source"] for job in some]
        table.add_row(
            key, str(sources.count("event")), str(sources.count("manual")),
            str(sum(job["attempt_count"] > 1 for job in some)),
            _middle(_seconds(job["queued_at"], job["started_at"]) for job in ended),
            _middle(_seconds(job["started_at"], job["finished_at"]) for job in ended),
        )  # fmt: skip
    return table


def _workers(stage: Stage) -> Table:
    table = Table(title="Workers", title_justify="left", title_style="bold")
    for column in ("worker", "host", "state"):
        table.add_column(column)
    ours = {worker.pid for worker in stage.workers}
    for one in stage.root.every("/workers"):
        if one["pid"] in ours:
            style = "green" if one["state"] == "running" else "bold red"
            table.add_row(one["worker_id"][:40], one["hostname"], Text(one["state"], style))
    return table


def _night(tenant: Tenant) -> Text:
    runs = tenant.admin.get(f"/jobs/triggers/{nightly(tenant)['id']}/next", count=1)["items"]
    due = (
        f"{runs[0]['local'][:16].replace('T', ' ')} in New York, {runs[0]['due'][:16].replace('T', ' ')} UTC"
    )
    return Text.assemble((f"Next night of {tenant.slug}  ", "bold"), due)


def _sheet(stage: Stage, tenant: Tenant, data: Path) -> Path:
    library, truth = Library(stage.library, tenant.id), tenant.account.truth
    rows = [row for row in run(stage.conn, "tagged_pictures", tenant_id=tenant.id) if not row[5]]
    prints = [Print(library.path(row[2]), row[3], truth[row[1]]) for row in rows[:40]]
    title = f"{tenant.name}: what the models say of pictures that they never saw"
    return contact_sheet(title, prints, data / f"contact-sheet-{tenant.slug}.png")


def _seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _middle(seconds: Iterable[float]) -> str:
    found = list(seconds)
    return f"{max(0.0, statistics.median(found)):.2f} s" if found else "–"


def _next(data: Path) -> Text:
    text = Text.assemble(("\nEverything is kept in ", "bold"), (str(data), "cyan"), "\n")
    text.append("What to try next\n", "bold")
    python = f"{program('python')} -m examples.photos"
    for what, command in (
        ("kill -9 a worker in mid-sync, and lose nothing:", f"{python} --kill-worker"),
        ("Dropbox on a bad day:", f"{python} --script rough"),
    ):
        text.append(f"  {what}\n")
        text.append(f"    {command}\n", "cyan")
    text.right_crop(1)
    return text
