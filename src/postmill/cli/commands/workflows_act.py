"""`postmill workflows cancel | retry | release`."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.cli.commands.jobs_act import RERUN
from postmill.cli.commands.workflows import Id
from postmill.cli.completion import complete_step
from postmill.cli.confirming import Yes
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import find_workflow
from postmill.cli.outcomes import Told
from postmill.cli.run import Run
from postmill.cli.who import who
from postmill.client import workflow_care as care

Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]


def cancel(run: Run, workflow: Id, reason: Reason = None) -> None:
    """Cancel the whole: what waits is over, what runs is asked to stop, and nothing of it starts any more."""
    with run.connect() as conn:
        id = find_workflow(conn, run.schema, workflow)
        done = run.act(conn, care.cancel_workflow(run.schema, id, reason=reason, actor_id=who()))
    if run.out.as_json:
        run.out.document({"id": id, "status": done.status, "jobs": done.jobs})
    elif done.status == "canceled":
        run.out.say(f"canceled; {done.jobs:,} jobs were still to end", style="yellow")
    else:
        over = "had ended before" if done.status == "finished" else "is being taken back already"
        run.out.say(f"workflow {id} {over}; nothing was done", style="yellow")
    if done.status != "canceled":
        raise typer.Exit(ExitCode.FAILED)


def retry(run: Run, workflow: Id, yes: Yes = False) -> None:
    """Run again what did not succeed, and with it what was canceled for its sake."""
    with run.connect() as conn:
        id = find_workflow(conn, run.schema, workflow)
        done = run.act(conn, care.retry_workflow(run.schema, id, confirm=yes, actor_id=who()))
    if run.out.as_json:
        run.out.document(done)
    elif not done:
        run.out.say("nothing of it has failed; nothing to retry")
    else:
        for step in done:
            told = RERUN.get(step.status, Told(step.status, failed=True))
            words = told.words.format(new=step.new_id)
            run.out.say(f"{step.name or step.id}  {words}", style="yellow" if told.failed else "green")
    if any(RERUN.get(step.status, Told("", failed=True)).failed for step in done):
        raise typer.Exit(ExitCode.FAILED)


def release(
    run: Run,
    workflow: Id,
    steps: Annotated[
        list[str] | None,
        typer.Argument(metavar="STEP", help="Names of held steps; none: all.", autocompletion=complete_step),
    ] = None,
    reason: Reason = None,
) -> None:
    """Let held steps go on as if what failed had succeeded."""
    with run.connect() as conn:
        id = find_workflow(conn, run.schema, workflow)
        released = run.act(
            conn, care.release_steps(run.schema, id, steps or None, reason=reason, actor_id=who())
        )
    if run.out.as_json:
        run.out.document({"id": id, "released": released})
    else:
        word = "step goes" if released == 1 else "steps go"
        run.out.say(f"{released:,} {word} on", style="green" if released else "yellow")
    if not released:
        raise typer.Exit(ExitCode.FAILED)
