"""`postmill triggers backfill`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from postmill.bind import drive
from postmill.cli.commands.triggers import Trigger
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.triggers import find_trigger
from postmill.cli.values import moment
from postmill.operate import backfill as operate
from postmill.operate.backfill import BackfillPlan


def backfill(
    run: Run,
    trigger: Trigger,
    since: Annotated[str, typer.Option(metavar="MOMENT", help="The window begins here.")],
    until: Annotated[str, typer.Option(metavar="MOMENT", help="Before this moment, not in the future.")],
    reason: Annotated[str | None, typer.Option(help="Why; for the audit log.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Show what it would do, and do nothing.")
    ] = False,
) -> None:
    """Make up for due moments of a schedule that made no job, at most 500, all at once.

    A moment that has made a job is left as it is. Overlap policy, jitter and dedupe window are not asked.
    """
    first, last = moment(since, "--since"), moment(until, "--until")
    assert first is not None
    assert last is not None
    with run.connect() as conn:
        id = find_trigger(conn, run.schema, trigger)
        if dry_run:
            plan = drive(conn, operate.plan(id, first, last, schema=run.schema))
            run.out.show(
                {"due": plan.due, "kept": plan.kept, "problem": plan.problem}, lambda: _planned(plan)
            )
            return
        done = run.act(conn, operate.backfill(id, first, last, reason=reason, schema=run.schema))
    if run.out.as_json:
        run.out.document(done)
        return
    counts = Counter(one.outcome for one in done)
    told = ", ".join(f"{n} {outcome}" for outcome, n in counts.most_common())
    run.out.say(told or "nothing was left out", style="green" if counts.keys() <= {"enqueued"} else "yellow")


def _planned(plan: BackfillPlan) -> Group:
    n = len(plan.due)
    told = f"{n} job{'' if n == 1 else 's'} would be made; {plan.kept} due moments made one"
    parts: list[Text] = [Text(told)]
    if plan.problem is not None:
        parts.append(Text(f"no job would be made: {plan.problem}", style="red"))
    rows = [(run.due.isoformat(), run.local.isoformat(sep=" ")) for run in plan.due]
    return Group(*parts, table(("due (UTC)", "local time"), rows)) if rows else Group(*parts)
