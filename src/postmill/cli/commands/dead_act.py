"""`postmill dead replay | discard`: by ids, or all that match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from postmill.bind import drive
from postmill.cli.commands.dead_bulk import Bulk, Canary, Detach, Preview, Rate, bulk
from postmill.cli.commands.jobs_act import RERUN
from postmill.cli.completion import complete_dead
from postmill.cli.confirming import Yes, confirmed
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.letters import Group, Message, Newer, Older, Queue, Status, Tenant, Type, letter_filter
from postmill.cli.lookups import Connection, find_ids
from postmill.cli.outcomes import Told, report
from postmill.cli.progress import counting, overseen
from postmill.cli.run import Run
from postmill.cli.who import who
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Pace
from postmill.operate import commands, operations
from postmill.store.jobs import Rerun

MOST = 10_000
"""Dead letters that a call does itself; with --all more than that become an operation."""

SKIPPED = {
    "live": Told("skipped: runs again already, as {new}"),
    "already_replayed": Told("skipped: was replayed already, as {new}"),
    "rolled_back": Told("its workflow was taken back; start it again", failed=True),
    "succeeded_since": Told("skipped: a later job has succeeded in its place, {new}"),
    "unconfirmed": Told("skipped: its definition wants to be asked"),
}
"""What is no fault of a call with --all: between the list and the act somebody else was here, or nobody was asked."""

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Job ids, whole or their beginning.", autocompletion=complete_dead),
]
All = Annotated[
    bool,
    typer.Option("--all", metavar="", help="All that match --type, --queue, --given-up-for and the like."),
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
    tenant: Tenant = None,
    error_group: Group = None,
    error_status: Status = None,
    message: Message = None,
    older_than: Older = None,
    newer_than: Newer = None,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Also those whose replay has ended already.")
    ] = False,
    despite_success: Annotated[
        bool,
        typer.Option(
            "--despite-success",
            metavar="",
            help="Also those in whose place a later job has succeeded (same key, or same type and payload).",
        ),
    ] = False,
    version: Annotated[
        str | None,
        typer.Option(
            "--on-version",
            metavar="N",
            help="Only once the definition has come to version N: a number, as definitions show tells it, not a build.",
        ),
    ] = None,
    original_version: Annotated[
        bool,
        typer.Option(
            "--original-version",
            metavar="",
            help="Each under the version of its definition that it was made under: only workers that run it take it.",
        ),
    ] = False,
    rate: Rate = None,
    canary: Canary = 0,
    detach: Detach = False,
    preview: Preview = False,
    yes: Yes = False,
) -> None:
    """Run dead letters again, each as a new job that knows whose replay it is. A second replay needs --again.

    With --all and one of --rate, --canary, --detach it is an operation: workers carry it out, exactly those that match
    now, also if this command or a worker ends. Without them it is done from here; more than 10,000 become an operation.
    """
    how = Bulk(rate, canary, detach, preview)
    least = _version(version)
    if again and all_ and not how:
        raise CliError("--again goes with ids only", "postmill dead replay ID --again")
    with run.connect() as conn:
        chosen = letter_filter(
            conn,
            run.schema,
            job_type=job_type,
            queue=queue,
            reason=given_up_for,
            tenant=tenant,
            error_group=error_group,
            error_status=error_status,
            message=message,
            older_than=older_than,
            newer_than=newer_than,
        )
        pace = Pace(
            rate=rate,
            canary=canary,
            again=again,
            confirm=yes,
            despite_success=despite_success,
            version=least,
            original_version=original_version,
        )
        if how:
            bulk(run, conn, "replay", _for_bulk(run, conn, ids, all_, chosen, "replay"), how, pace, None, yes)
            return
        some = _chosen(run, conn, ids, all_, chosen, "replay", yes)
        if some is None:
            bulk(run, conn, "replay", chosen, how, pace, None, yes)
            return

        def act(part: Sequence[UUID], confirm: bool) -> list[Rerun]:
            flow = commands.replay(
                part,
                again=again,
                confirm=confirm,
                despite_success=despite_success,
                version=least,
                original_version=original_version,
                actor_id=who(),
                schema=run.schema,
            )
            with counting(run.out, "replaying", len(part)) as done:
                return run.act(conn, overseen(flow, lambda answer: done(len(answer), "")))

        answers = confirmed(run, some, act, yes)
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
    tenant: Tenant = None,
    error_group: Group = None,
    error_status: Status = None,
    message: Message = None,
    older_than: Older = None,
    newer_than: Newer = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the history.")] = None,
    rate: Rate = None,
    detach: Detach = False,
    preview: Preview = False,
    yes: Yes = False,
) -> None:
    """Close dead letters for good: they count as failed.

    With --all and --rate or --detach it is an operation, which workers carry out; else it is done from here, and more than
    10,000 become an operation.
    """
    meaning = {
        "discarded": Told("closed as failed"),
        "not_dead": Told("is no open dead letter", failed=True),
        "unknown": Told("no such job", missing=True),
    }
    how = Bulk(rate, 0, detach, preview)
    with run.connect() as conn:
        chosen = letter_filter(
            conn,
            run.schema,
            job_type=job_type,
            queue=queue,
            reason=given_up_for,
            tenant=tenant,
            error_group=error_group,
            error_status=error_status,
            message=message,
            older_than=older_than,
            newer_than=newer_than,
        )
        if how:
            found = _for_bulk(run, conn, ids, all_, chosen, "discard")
            bulk(run, conn, "discard", found, how, Pace(rate=rate), reason, yes)
            return
        some = _chosen(run, conn, ids, all_, chosen, "discard", yes)
        if some is None:
            bulk(run, conn, "discard", chosen, how, Pace(), reason, yes)
            return
        closing = commands.discard(some, reason=reason, schema=run.schema)
        with counting(run.out, "discarding", len(some)) as done:
            answers = run.act(conn, overseen(closing, lambda part: done(len(part), "")))
    report(run, [(answer.id, answer.status, None) for answer in answers], meaning)


def _version(text: str | None) -> int | None:
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0:
        return int(text)
    raise CliError(
        f"--on-version takes the number of a definition's version, such as 3, not {text!r:.60}",
        "postmill definitions show TYPE says at which version it is; of builds, postmill workers list",
    )


def _tell_skipped(run: Run, answers: Sequence[Rerun]) -> None:
    unasked = sum(answer.status == "unconfirmed" for answer in answers)
    done = sum(answer.status == "succeeded_since" for answer in answers)
    others = sum(answer.status in SKIPPED for answer in answers) - unasked - done
    if others:
        run.out.note(f"{others:,} of {len(answers):,} skipped: somebody else has replayed them meanwhile")
    if done:
        run.out.note(
            f"{done:,} of {len(answers):,} skipped: a later job has succeeded in their place; add --despite-success"
        )
    if unasked:
        run.out.note(
            f"{unasked:,} of {len(answers):,} skipped: their definition wants to be asked; add --yes"
        )


def _for_bulk(
    run: Run, conn: Connection, ids: Sequence[str] | None, all_: bool, chosen: LetterFilter, verb: str
) -> LetterFilter:
    """The filter of an operation: that of --all, or the named ids."""
    if ids:
        _refuse_both(all_, chosen, verb)
        return LetterFilter(ids=find_ids(conn, run.schema, ids))
    _refuse_neither(all_, verb)
    return chosen


def _chosen(
    run: Run,
    conn: Connection,
    ids: Sequence[str] | None,
    all_: bool,
    chosen: LetterFilter,
    verb: str,
    yes: bool,
) -> list[UUID] | None:
    """The letters to be done from here; None: more than that, for an operation."""
    if ids:
        _refuse_both(all_, chosen, verb)
        return find_ids(conn, run.schema, ids)
    _refuse_neither(all_, verb)
    preview = drive(conn, operations.preview(chosen, sample=MOST, schema=run.schema))
    letters = [sample.id for sample in preview.sample]
    if not letters:
        raise CliError("no dead letter matches", "postmill dead list shows what there is", ExitCode.NOT_FOUND)
    if preview.count > len(letters):
        run.out.note(f"{preview.count:,} are more than {MOST:,}: an operation, which workers carry out")
        return None
    if not yes:
        if run.out.as_json:
            raise CliError(f"{verb} of {len(letters)} dead letters is not confirmed", "add --yes")
        typer.confirm(
            f"{verb} {len(letters)} dead letter{'' if len(letters) == 1 else 's'}?", abort=True, err=True
        )
    return letters


def _refuse_both(all_: bool, chosen: LetterFilter, verb: str) -> None:
    if all_ or chosen.json:
        raise CliError(
            "ids and --all exclude each other", f"postmill dead {verb} ID, or --all with its filters"
        )


def _refuse_neither(all_: bool, verb: str) -> None:
    if not all_:
        raise CliError(
            "which dead letters?", f"name ids (postmill dead list), or: postmill dead {verb} --all"
        )
