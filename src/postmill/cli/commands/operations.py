"""`postmill operations list | show | pause | resume | approve | abort`: bulk acts that workers carry out."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import between, relative
from postmill.cli.completion import complete_operation
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.ids import id_range, short
from postmill.cli.lookups import Connection, server_now
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.who import who
from postmill.domain.errors import NotFound
from postmill.operate import operations
from postmill.store.operations import Operation

LOOK_EVERY = 0.25

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Operation, whole id or its beginning.", autocompletion=complete_operation
    ),
]
Why = Annotated[str | None, typer.Option("--reason", help="Why; kept in the audit log.")]


def list_(
    run: Run,
    all_: Annotated[bool, typer.Option("--all", metavar="", help="Ended ones, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many.")] = 20,
) -> None:
    """List operations that have not ended, the newest first."""
    with run.connect() as conn:
        found = drive(conn, operations.operations(most=limit, open=not all_, schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("no operations" if all_ else "no operation runs, is paused or waits for approval")
        return
    rows = [
        (
            short(one.id) if run.out.short_ids else str(one.id),
            one.kind,
            _state(one),
            f"{one.tried:,} of {one.total:,}",
            one.actor_id,
            relative(one.created_at, now),
            _chosen(one),
        )
        for one in found
    ]
    run.out.console.print(
        table(("id", "kind", "status", "jobs", "by", "begun", "which"), rows, right=("jobs",))
    )


def show(
    run: Run,
    id: Id,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", metavar="", help="Go on until it ends or is paused.")
    ] = False,
) -> None:
    """Show one operation: how far it is, what became of its jobs, and what its replays have come to."""
    with run.connect() as conn:
        whole = _find(conn, run.schema, id)
        if watch:
            follow(run, conn, whole)
            return
        found = drive(conn, operations.operation(whole, schema=run.schema))
        _show(run, conn, found)


def pause(run: Run, id: Id, reason: Why = None) -> None:
    """Pause an operation; what it has done stays done."""
    _change(run, id, "pause", reason)


def resume(run: Run, id: Id, reason: Why = None) -> None:
    """Go on with a paused operation; one that its canary has paused goes on with the rest."""
    _change(run, id, "resume", reason)


def approve(run: Run, id: Id, reason: Why = None) -> None:
    """Approve an operation that somebody else has begun; it goes on then."""
    _change(run, id, "approve", reason)


def abort(run: Run, id: Id, reason: Why = None) -> None:
    """End an operation for good; jobs that it has not come to stay as they are."""
    _change(run, id, "abort", reason)


def follow(run: Run, conn: Connection, id: UUID) -> None:
    """Shows the operation until it ends or is paused. Exit code 0 where it finished without a failed letter, else 1.

    Whoever interrupts only stops watching.
    """
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    last = ""
    found = drive(conn, operations.operation(id, schema=run.schema))
    try:
        with Progress(
            *columns, console=run.out.side, transient=True, disable=not run.out.side.is_terminal
        ) as bar:
            task = bar.add_task(found.kind, total=found.total, text="")
            while found.status == "running":
                bar.update(task, completed=found.tried, text=_counts(found))
                line = f"{_state(found)}"
                if line != last and not run.out.side.is_terminal:
                    run.out.note(f"{found.kind} of {found.total:,}: {line}")
                last = line
                time.sleep(LOOK_EVERY)
                found = drive(conn, operations.operation(id, schema=run.schema))
    except KeyboardInterrupt:
        run.out.note(
            f"it goes on: postmill operations show {id} --watch; to stop it: postmill operations pause {id}",
            style="yellow",
        )
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    _show(run, conn, found)
    if found.status != "finished" or found.failed:
        raise typer.Exit(ExitCode.FAILED)


def _show(run: Run, conn: Connection, found: Operation) -> None:
    results = drive(conn, operations.results(found.id, schema=run.schema))
    now = server_now(conn, run.schema)
    faults = [
        item
        for status in ("invalid", "error", "busy")
        for item in drive(conn, operations.items(found.id, status=status, most=5, schema=run.schema))
    ]
    if run.out.as_json:
        document: dict[str, Any] = {name: getattr(found, name) for name in found.__slots__}
        run.out.document(document | {"results": results})
        return
    run.out.console.print(_page(found, results, now))
    for item in faults[:5]:
        run.out.console.print(Text(f"  {item.job_id}  {item.status}: {item.detail or ''}", style="yellow"))


def _page(found: Operation, results: dict[str, int], now: datetime) -> RenderableType:
    rate = "" if found.rate is None else f", {found.rate:g} a second at most"
    canary = f", canary of {found.canary:,}" if found.canary else ""
    facts = pairs(
        [
            ("status", _state(found)),
            ("jobs", f"{found.total:,}: {_counts(found)}{rate}{canary}"),
            ("which", _chosen(found)),
            ("replays now", ", ".join(f"{n:,} {state}" for state, n in sorted(results.items())) or None),
            ("begun", f"{relative(found.created_at, now)} by {found.actor_id}"),
            ("took", between(found.started_at, found.ended_at) if found.ended_at else None),
            ("reason", found.reason),
        ]
    )
    return Group(Text(f"{found.kind} {found.id}", style="bold"), facts)


def _state(found: Operation) -> str:
    if found.status == "paused":
        why = found.pause_reason or "no reason given"
        return f"paused: {why}" + (f" ({found.paused_by})" if found.paused_by else "")
    if found.status == "proposed":
        return "waits for somebody else's approval"
    if found.status == "running" and found.stage != "rest":
        return "running, counts its jobs" if found.stage == "select" else "running, canary"
    return found.status


def _counts(found: Operation) -> str:
    word = {"replay": "replayed", "discard": "discarded"}.get(found.kind, "done")
    waiting = found.total - found.tried
    parts = [(found.done, word), (found.skipped, "skipped"), (found.failed, "failed"), (waiting, "to go")]
    return ", ".join(f"{n:,} {name}" for n, name in parts if n or name == word)


def _chosen(found: Operation) -> str:
    if "query" in found.filter:
        return str(found.filter["query"])
    return ", ".join(f"{key} {value}" for key, value in found.filter.items() if key != "ids") or (
        "by id" if "ids" in found.filter else "all"
    )


def _change(run: Run, id: str, verb: operations.Verb, reason: str | None) -> None:
    with run.connect() as conn:
        whole = _find(conn, run.schema, id)
        flow = operations.change(whole, verb, reason=reason, actor_id=who(), schema=run.schema)
        answer = run.act(conn, flow)
        found = drive(conn, operations.operation(whole, schema=run.schema))
    if answer.status == "ended":
        raise CliError(f"it has ended: {found.status}", f"postmill operations show {whole}", ExitCode.FAILED)
    if answer.status == "proposed":
        raise CliError(
            "somebody else has to approve it first", f"postmill operations approve {whole}", ExitCode.FAILED
        )
    if answer.status == "same_person":
        raise CliError("who began it cannot approve it", "ask somebody else to", ExitCode.FAILED)
    said = "it was so already" if answer.status == "unchanged" else answer.status
    run.out.show(found, lambda: Text(f"{whole}  {said}; {_counts(found)}"))


def _find(conn: Connection, schema: str, text: str) -> UUID:
    low, high = id_range(text, "operation")
    if low == high:
        return low
    found = [
        one.id
        for one in drive(conn, operations.operations(most=1000, schema=schema))
        if low <= one.id <= high
    ]
    if not found:
        raise NotFound(f"no operation's id begins with {text!r}; postmill operations list --all shows them")
    if len(found) > 1:
        raise CliError(f"several operations' ids begin with {text!r}", "give more of it", ExitCode.NOT_FOUND)
    return found[0]
