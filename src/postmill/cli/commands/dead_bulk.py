"""`postmill dead replay | discard --all --rate …`: a bulk act that workers carry out, watched from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import relative
from postmill.cli.commands.operations import follow
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import Connection, server_now
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.cli.who import who
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Kind, Pace
from postmill.operate import operations
from postmill.store.dead_statistics import DeadPreview

Rate = Annotated[
    float | None,
    typer.Option("--rate", metavar="N", help="With --all: workers do it, N letters a second at most."),
]
Canary = Annotated[
    int,
    typer.Option(
        "--canary",
        metavar="N",
        min=0,
        help="With --all: workers do it, N first; the rest when these have succeeded.",
    ),
]
Detach = Annotated[
    bool, typer.Option("--detach", metavar="", help="With --all: workers do it; do not wait for the end.")
]
Preview = Annotated[
    bool, typer.Option("--preview", metavar="", help="With --all: only tell which letters it would be.")
]


@dataclass(frozen=True)
class Bulk:
    """The options of a bulk act."""

    rate: float | None
    canary: int
    detach: bool
    preview: bool

    def __bool__(self) -> bool:
        """Whether any was given: then workers do it."""
        return self.rate is not None or bool(self.canary) or self.detach or self.preview


def bulk(
    run: Run,
    conn: Connection,
    kind: Kind,
    chosen: LetterFilter,
    how: Bulk,
    pace: Pace,
    reason: str | None,
    yes: bool,
) -> None:
    """Preview, question, start, and the bar until its end."""
    pace.check(kind)
    found = drive(conn, operations.preview(chosen, schema=run.schema))
    if how.preview and run.out.as_json:
        run.out.document(found)
        return
    if not found.count:
        raise CliError(
            "no dead letter matches", "postmill dead stats shows what there is", ExitCode.NOT_FOUND
        )
    if not run.out.as_json:
        screen = run.out.console if how.preview else run.out.side
        screen.print(_page(found, relative(found.oldest, server_now(conn, run.schema)), pace))
    if how.preview:
        return
    if not yes:
        if run.out.as_json:
            raise CliError(f"{kind} of {found.count} dead letters is not confirmed", "add --yes")
        typer.confirm(
            f"{kind} {found.count:,} dead letter{'' if found.count == 1 else 's'}?", abort=True, err=True
        )
    begun = run.act(
        conn, operations.start(kind, chosen, pace, reason=reason, actor_id=who(), schema=run.schema)
    )
    if begun.id is None:
        raise CliError(
            "no dead letter matches any more", "postmill dead stats shows what there is", ExitCode.NOT_FOUND
        )
    if how.detach:
        if run.out.as_json:
            run.out.document(drive(conn, operations.operation(begun.id, schema=run.schema)))
        else:
            run.out.copyable(str(begun.id))
            run.out.note(f"{begun.total:,} letters; watch it: postmill operations show {begun.id} --watch")
        return
    follow(run, conn, begun.id)


def counted(n: int, name: str) -> str:
    """`1 letter`, `2 letters`."""
    return f"{n:,} {name}" if n == 1 else f"{n:,} {name}s"


def _page(found: DeadPreview, oldest: str, pace: Pace) -> RenderableType:
    rows = [
        (
            f"{cause.count:,}",
            "–" if cause.status is None else str(cause.status),
            cause.reason,
            cause.job_type or "(body gone)",
            cause.error_group or "–",
            cause.error_class or "–",
        )
        for cause in found.by_cause[:12]
    ]
    left = {
        "never": "their definition says that they are never replayed",
        "ask": "their definition wants to be asked: --yes",
        "inactive": "their definition takes no new jobs",
        "unknown_type": "their definition is gone",
    }
    lines = [
        f"{n:,} will not run: {left[name]}"
        for name, n in found.by_replay_class.items()
        if name in left and not (name == "ask" and pace.confirm)
    ]
    samples = [
        f"  {sample.id}  {sample.job_type or '(body gone)'}  {one_line(sample.error_message or sample.reason, 80)}"
        for sample in found.sample
    ]
    return Group(
        Text(
            f"{counted(found.count, 'letter')} of {counted(found.tenants, 'tenant')}, the oldest given up {oldest}"
        ),
        table(
            ("letters", "status", "reason", "type", "error group", "error"), rows, right=("letters", "status")
        ),
        Text("\n".join(["such as", *samples, *lines]), style="dim"),
    )
