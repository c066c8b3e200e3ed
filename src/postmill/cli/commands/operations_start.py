"""`postmill operations start`: a bulk act on all jobs that a query finds, asked about, begun, and watched to its end."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.commands.operations import follow
from postmill.cli.completion import complete_queue, complete_tag
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import find_ids, server_now
from postmill.cli.options import one_of
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import moment
from postmill.cli.who import who
from postmill.domain.pace import KINDS, Kind, Pace
from postmill.operate import bulk, operations
from postmill.store.bulk_preview import BulkPreview

What = Annotated[str, typer.Argument(metavar="KIND", help=f"{one_of(KINDS)}.")]
Query = Annotated[
    str | None,
    typer.Option("--query", "-q", metavar="QUERY", help="Jobs, as in 'state:dead_letter type:greet'."),
]
Ids = Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="This job; may be repeated.")]


def start(
    run: Run,
    kind: What,
    query: Query = None,
    ids: Ids = None,
    rate: Annotated[float | None, typer.Option(metavar="N", help="Jobs a second at most.")] = None,
    canary: Annotated[
        int, typer.Option(metavar="N", min=0, help="Replays that go first and are waited for.")
    ] = 0,
    stop_ratio: Annotated[
        float | None,
        typer.Option("--stop-ratio", metavar="SHARE", help="Failures, 0 to 1, above which it is paused."),
    ] = None,
    fair: Annotated[bool, typer.Option("--fair", metavar="", help="Tenants take turns.")] = False,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Also what was replayed before.")
    ] = False,
    confirm: Annotated[
        bool, typer.Option("--confirm", metavar="", help="Somebody was asked: also kinds that want that.")
    ] = False,
    despite_success: Annotated[
        bool, typer.Option("--despite-success", metavar="", help="Also what a later job has done since.")
    ] = False,
    same_version: Annotated[
        bool, typer.Option("--same-version", metavar="", help="Only where the definition has not changed.")
    ] = False,
    original_version: Annotated[
        bool,
        typer.Option(
            "--original-version", metavar="", help="Of replay: under the version that each was made under."
        ),
    ] = False,
    priority: Annotated[int | None, typer.Option(metavar="N", help="Of the replays, or the new one.")] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="QUEUE", help="Where to, of move.", autocompletion=complete_queue)
    ] = None,
    run_at: Annotated[str | None, typer.Option("--run-at", metavar="WHEN", help="When, of run_at.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Of tag: one to be given; -TAG is taken away.",
            autocompletion=complete_tag,
        ),
    ] = None,
    start_at: Annotated[str | None, typer.Option("--start-at", metavar="WHEN", help="Not before.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the audit log.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", metavar="", help="Only tell what it would meet.")
    ] = False,
    detach: Annotated[bool, typer.Option("--detach", metavar="", help="Do not wait for the end.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")] = False,
) -> None:
    """Do one thing to all jobs that a query finds now; workers carry it out.

    move takes them to --queue, run_at makes them due at --run-at, priority gives them --priority, tag gives
    them each --tag.
    """
    act = next((one for one in KINDS if one == kind), None)
    if act is None:
        raise CliError(f"unknown kind of act {kind!r}", f"it is one of {', '.join(KINDS)}")
    pace = Pace(
        rate=rate, canary=canary, stop_ratio=stop_ratio, fair=fair, again=again, confirm=confirm,
        despite_success=despite_success, same_version=same_version, original_version=original_version,
        priority=priority, queue=queue,
        run_at=moment(run_at, "--run-at"), tags=tuple(tag) if tag else None, start_at=moment(start_at, "--start-at"),
        approve_above=run.settings.console.second_person_above,
    )  # fmt: skip
    pace.check(act)
    if (query is None) == (not ids):
        raise CliError(
            "give --query, or --id", "postmill operations start replay --query 'state:dead_letter type:greet'"
        )
    with run.connect() as conn:
        if query is not None:
            meant = drive(conn, bulk.by_query(query, payloads=True, schema=run.schema))
        else:
            meant = bulk.by_ids(find_ids(conn, run.schema, ids or []))
        found = drive(conn, bulk.impact(act, meant, schema=run.schema))
        if preview and run.out.as_json:
            run.out.document(found)
            return
        if not found.count:
            raise CliError(
                "no job matches",
                f"postmill jobs list shows what there is; {act} needs some",
                ExitCode.NOT_FOUND,
            )
        if not run.out.as_json:
            screen = run.out.console if preview else run.out.side
            screen.print(_page(act, found, relative(found.oldest, server_now(conn, run.schema))))
        if preview:
            return
        if not yes:
            if run.out.as_json:
                raise CliError(f"{act} of {found.count} jobs is not confirmed", "add --yes")
            typer.confirm(
                f"{act} {_counted(found)} job{'' if found.count == 1 else 's'}?", abort=True, err=True
            )
        begun = run.act(
            conn,
            bulk.start(
                act, meant, pace, cut_off=found.cut_off, reason=reason, actor_id=who(), schema=run.schema
            ),
        )
        if begun.id is None:
            raise CliError(
                "no job matches any more", "postmill jobs list shows what there is", ExitCode.NOT_FOUND
            )
        if begun.status == "proposed":
            run.out.note(
                f"somebody else has to approve it: postmill operations approve {begun.id}", style="yellow"
            )
        if detach or begun.status == "proposed":
            if run.out.as_json:
                run.out.document(drive(conn, operations.operation(begun.id, schema=run.schema)))
            else:
                run.out.copyable(str(begun.id))
                run.out.note(f"watch it: postmill operations show {begun.id} --watch")
            return
        follow(run, conn, begun.id)


def _counted(found: BulkPreview) -> str:
    return f"{found.count:,}{'' if found.complete else '+'}"


def _page(kind: Kind, found: BulkPreview, oldest: str) -> RenderableType:
    rows = [
        (f"{one.count:,}", one.job_type, "–" if one.version is None else f"v{one.version}", one.state)
        for one in found.by_type[:12]
    ]
    left = (
        (found.looked_at - found.fit, f"are in a state in which {kind} does nothing"),
        (found.never, "are of definitions that are never replayed"),
        (found.ask, "are of definitions that want to be asked: --confirm"),
        (
            found.succeeded_since if kind == "replay" else 0,
            "were done since by a later job: --despite-success",
        ),
        (found.gone, "are of definitions that are gone or take no new jobs"),
        (sum(one.count for one in found.paused_queues), "belong to paused queues"),
        (sum(one.count for one in found.over_budget), "are of tenants over their budget"),
    )
    lines = [f"{n:,} {words}" for n, words in left if n]
    tenants = "1 tenant" if found.tenants == 1 else f"{found.tenants:,} tenants"
    return Group(
        Text(
            f"{_counted(found)} job{'' if found.count == 1 else 's'} of {tenants}, the oldest enqueued {oldest}"
        ),
        table(("jobs", "type", "version", "definition"), rows, right=("jobs",)),
        Text("\n".join(lines), style="dim"),
    )
