"""`postmill dead replay | discard`: by ids, or all that match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from postmill.bind import drive
from postmill.cli.commands.dead import Queue, Type
from postmill.cli.commands.jobs_act import RERUN
from postmill.cli.completion import complete_dead
from postmill.cli.confirming import Yes, confirmed
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import Connection, find_ids
from postmill.cli.outcomes import Told, report
from postmill.cli.progress import counting, overseen
from postmill.cli.run import Run
from postmill.cli.who import who
from postmill.operate import commands, insight
from postmill.store.jobs import Rerun

MOST = 10_000
"""Dead letters that one call with --all takes; a second call takes the rest."""

SKIPPED = {
    "live": Told("skipped: runs again already, as {new}"),
    "already_replayed": Told("skipped: was replayed already, as {new}"),
    "unconfirmed": Told("skipped: its definition wants to be asked"),
}
"""What is no fault of a call with --all: between the list and the act somebody else was here, or nobody was asked."""

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Job ids, whole or their beginning.", autocompletion=complete_dead),
]
All = Annotated[
    bool, typer.Option("--all", metavar="", help="All that match --type, --queue and --given-up-for.")
]
GivenUpFor = Annotated[
    str | None, typer.Option("--given-up-for", metavar="REASON", help="With --all: only for this reason.")
]


def replay(
    run: Run,
    ids: Ids = None,
    all_: All = False,
    job_type: Type = None,
    queue: Queue = None,
    given_up_for: GivenUpFor = None,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Also those whose replay has ended already.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Run dead letters again, each as a new job that knows whose replay it is. A second replay needs --again."""
    if again and all_:
        raise CliError("--again goes with ids only", "postmill dead replay ID --again")
    with run.connect() as conn:
        chosen = _chosen(run, conn, ids, all_, (job_type, queue, given_up_for), "replay", yes)

        def act(some: Sequence[UUID], confirm: bool) -> list[Rerun]:
            flow = commands.replay(some, again=again, confirm=confirm, actor_id=who(), schema=run.schema)
            with counting(run.out, "replaying", len(some)) as done:
                return run.act(conn, overseen(flow, lambda part: done(len(part), "")))

        answers = confirmed(run, chosen, act, yes)
    if all_:
        _tell_skipped(run, answers)
    report(
        run,
        [(answer.id, answer.status, answer.new_id) for answer in answers],
        RERUN | SKIPPED if all_ else RERUN,
    )


def discard(
    run: Run,
    ids: Ids = None,
    all_: All = False,
    job_type: Type = None,
    queue: Queue = None,
    given_up_for: GivenUpFor = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the history.")] = None,
    yes: Yes = False,
) -> None:
    """Close dead letters for good: they count as failed."""
    meaning = {
        "discarded": Told("closed as failed"),
        "not_dead": Told("is no open dead letter", failed=True),
        "unknown": Told("no such job", missing=True),
    }
    with run.connect() as conn:
        chosen = _chosen(run, conn, ids, all_, (job_type, queue, given_up_for), "discard", yes)
        closing = commands.discard(chosen, reason=reason, schema=run.schema)
        with counting(run.out, "discarding", len(chosen)) as done:
            answers = run.act(conn, overseen(closing, lambda part: done(len(part), "")))
    report(run, [(answer.id, answer.status, None) for answer in answers], meaning)


def _tell_skipped(run: Run, answers: Sequence[Rerun]) -> None:
    unasked = sum(answer.status == "unconfirmed" for answer in answers)
    others = sum(answer.status in SKIPPED for answer in answers) - unasked
    if others:
        run.out.note(f"{others:,} of {len(answers):,} skipped: somebody else has replayed them meanwhile")
    if unasked:
        run.out.note(
            f"{unasked:,} of {len(answers):,} skipped: their definition wants to be asked; add --yes"
        )


def _chosen(
    run: Run,
    conn: Connection,
    ids: Sequence[str] | None,
    all_: bool,
    filters: tuple[str | None, str | None, str | None],
    verb: str,
    yes: bool,
) -> list[UUID]:
    job_type, queue, reason = filters
    if ids:
        if all_ or any(filters):
            raise CliError(
                "ids and --all exclude each other", f"postmill dead {verb} ID, or --all with its filters"
            )
        return find_ids(conn, run.schema, ids)
    if not all_:
        raise CliError(
            "which dead letters?", f"name ids (postmill dead list), or: postmill dead {verb} --all"
        )
    letters = drive(
        conn,
        insight.dead_letters(queue=queue, reason=reason, job_type=job_type, most=MOST, schema=run.schema),
    )
    if not letters:
        raise CliError("no dead letter matches", "postmill dead list shows what there is", ExitCode.NOT_FOUND)
    if not yes:
        if run.out.as_json:
            raise CliError(f"{verb} of {len(letters)} dead letters is not confirmed", "add --yes")
        typer.confirm(
            f"{verb} {len(letters)} dead letter{'' if len(letters) == 1 else 's'}?", abort=True, err=True
        )
    return [letter.id for letter in letters]
