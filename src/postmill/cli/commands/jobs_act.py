"""`postmill jobs cancel | retry | prioritize | register`: what may be done to jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from postmill.bind import drive
from postmill.cli.completion import complete_job, complete_module
from postmill.cli.confirming import Yes, confirmed
from postmill.cli.lookups import find_ids
from postmill.cli.modules import load_registry
from postmill.cli.outcomes import Told, report
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.who import who
from postmill.domain.registering import refuse_unregistered
from postmill.domain.settings_budgets import declared_budgets
from postmill.operate import budgets, commands, insight
from postmill.store.jobs import Rerun

Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Job ids, whole or their beginning.", autocompletion=complete_job),
]

RERUN = {
    "due": Told("waited for its next attempt; is due now"),
    "replayed": Told("runs again as {new}"),
    "live": Told("runs again already, as {new}", failed=True),
    "already_replayed": Told(
        "was replayed already, as {new}; replay that one, or this one once more: postmill dead replay ID --again",
        failed=True,
    ),
    "key_held": Told("its key belongs to the live job {new}", failed=True),
    "succeeded_since": Told(
        "a later job has succeeded in its place, {new}; to run it all the same: postmill dead replay ID --despite-success",
        failed=True,
    ),
    "old_version": Told("its definition has not come to that version", failed=True),
    "version_gone": Told("nobody can run the version that it was made under", failed=True),
    "rolled_back": Told("its workflow was taken back; start it again", failed=True),
    "waiting": Told("still waits; nothing to retry", failed=True),
    "running": Told("runs right now; nothing to retry", failed=True),
    "unconfirmed": Told("its definition wants to be asked before a replay: --yes", failed=True),
    "never": Told("its definition says that it is never replayed", failed=True),
    "succeeded": Told("has succeeded; nothing to retry", failed=True),
    "unknown": Told("no such job", missing=True),
}


def cancel(
    run: Run,
    ids: Ids,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the history.")] = None,
) -> None:
    """Cancel jobs. One that waits ends at once; one that runs is asked to stop."""
    meaning = {
        "canceled": Told("canceled"),
        "requested": Told("asked to stop; it runs and will hear of it"),
        "finished": Told("had ended before", failed=True),
        "unknown": Told("no such job", missing=True),
    }
    with run.connect() as conn:
        whole = find_ids(conn, run.schema, ids)
        answers = run.act(conn, commands.cancel(whole, actor_id=who(), reason=reason, schema=run.schema))
    report(run, [(answer.id, answer.status, None) for answer in answers], meaning)


def retry(run: Run, ids: Ids, yes: Yes = False) -> None:
    """Make waiting retries due now; run failed, canceled and dead jobs again as new ones."""

    def again(some: Sequence[UUID], confirm: bool) -> list[Rerun]:
        return run.act(conn, commands.retry(some, confirm=confirm, actor_id=who(), schema=run.schema))

    with run.connect() as conn:
        answers = confirmed(run, find_ids(conn, run.schema, ids), again, yes)
    report(run, [(answer.id, answer.status, answer.new_id) for answer in answers], RERUN)


def prioritize(
    run: Run,
    ids: Ids,
    priority: Annotated[int, typer.Option("--priority", metavar="N", help="A lower number is sooner.")],
    reason: Annotated[str | None, typer.Option(help="Why; kept in the audit log.")] = None,
) -> None:
    """Give jobs that wait another priority; each goes to the end of its new place, and may rise from there.

    For all jobs that a query finds: postmill operations start priority --query … --priority N.
    """
    meaning = {
        "changed": Told(f"has priority {priority}"),
        "unchanged": Told("had that priority"),
        "running": Told("runs already", failed=True),
        "finished": Told("had ended before", failed=True),
        "contended": Told("is just being claimed or moved; try again", failed=True),
        "unknown": Told("no such job", missing=True),
    }
    with run.connect() as conn:
        whole = find_ids(conn, run.schema, ids)
        answers = run.act(
            conn, commands.prioritize(whole, priority, reason=reason, actor_id=who(), schema=run.schema)
        )
    report(run, [(answer.id, answer.status, None) for answer in answers], meaning)


def register(
    run: Run,
    modules: Annotated[
        list[str],
        typer.Argument(metavar="MODULE", help="Files or dotted names.", autocompletion=complete_module),
    ],
) -> None:
    """Make the job types of modules known to the database, so that any program may enqueue them.

    A worker does this by itself when it starts; so it does with the budgets of the settings. What an operator has
    edited stays.
    """
    registry = load_registry(modules, run.settings)
    with run.connect() as conn:
        flow = commands.register(registry, queues_declared=registry.declared.values(), schema=run.schema)
        answers = run.act(conn, flow)
        declared = declared_budgets(run.settings.budgets)
        if declared:
            run.act(conn, budgets.declare(declared, schema=run.schema))
        strays = drive(conn, insight.strays(schema=run.schema))
    refuse_unregistered(answers)
    data = [
        {"job_type": name, "queue": registry[name].queue, "status": answers[name]} for name in sorted(answers)
    ]
    run.out.show(data, lambda: table(("job type", "queue", "status"), [tuple(row.values()) for row in data]))
    for some in strays:
        if some.waiting and some.job_type in answers:
            run.out.note(
                f"{some.waiting:,} of {some.job_type} still wait in {some.queue}; take them along: postmill queues move"
                f" {some.job_type}",
                style="yellow",
            )
