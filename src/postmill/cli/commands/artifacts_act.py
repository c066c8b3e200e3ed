"""`postmill artifacts put | delete`."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from postmill.artifacts.opening import id_of
from postmill.artifacts.sources import CHUNK
from postmill.artifacts.steps import drive as drive_steps
from postmill.bind import drive
from postmill.bind import run as statement
from postmill.cli.commands.artifacts import place_of
from postmill.cli.completion import complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.outcomes import Told, report
from postmill.cli.progress import moving
from postmill.cli.run import Run
from postmill.cli.who import who
from postmill.client import artifact_flows as flows
from postmill.domain import duration
from postmill.domain.errors import InvalidValue
from postmill.operate import tenants
from postmill.store.access import set_actor
from postmill.store.artifacts import door_delete_artifact
from postmill.store.flow import once


def put(
    run: Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file; -: standard input, with --name.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Its name (default: the file's own).")
    ] = None,
    content_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Media type (default: by the name's ending).")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", metavar="TENANT", help="Whose it is: slug or id.", autocompletion=complete_tenant
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="How long it stays, as 7d (default: artifacts.keep)."),
    ] = None,
) -> None:
    """Keep a file that a job is to read: give the job what this prints, artifact:ID."""
    wanted = name or (None if str(file) == "-" else file.name)
    if wanted is None:
        raise CliError("standard input has no name", "give one with --name")
    try:
        seconds = None if keep is None else duration.parse(keep, "--for")
    except ValueError as fault:
        raise InvalidValue(str(fault)) from None
    with run.connect() as conn:
        home = None if tenant is None else drive(conn, tenants.tenant(tenant, schema=run.schema)).id

        def acting(one: Any) -> Any:
            with conn.transaction():
                statement(conn, set_actor("cli", "user", who(), schema=run.schema))
                return statement(conn, one)

        made = drive_steps(
            flows.put(
                place_of(run),
                wanted,
                _pieces(run, file, wanted),
                tenant=home,
                content_type=content_type,
                expires_in=seconds,
            ),
            acting,
        )
    if run.out.as_json:
        run.out.document({"reference": made.reference, "artifact": made})
    else:
        run.out.console.print(made.reference)


def delete(
    run: Run,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of artifacts, or artifact:ID.")],
    reason: Annotated[str | None, typer.Option(help="Why; for the audit log.")] = None,
) -> None:
    """Delete artifacts: nobody sees them any more, and their files go within minutes."""
    meaning = {"deleted": Told("deleted"), "unknown": Told("no such artifact", missing=True)}
    whole = [id_of(id) for id in ids]
    with run.connect() as conn:
        answers = []
        for id in dict.fromkeys(whole):
            done = run.act(
                conn, once(door_delete_artifact(id, reason=reason, actor_id=who(), schema=run.schema))
            )
            answers.append((id, "deleted" if done else "unknown", None))
    report(run, answers, meaning)


def _pieces(run: Run, path: Path, name: str) -> Generator[bytes]:
    if str(path) == "-":
        yield from _read(sys.stdin.buffer)
        return
    try:
        file = path.open("rb")
    except OSError as fault:
        raise InvalidValue(f"{path} cannot be read: {fault.strerror}") from None
    with file, moving(run.out, name, os.fstat(file.fileno()).st_size) as moved:
        for piece in _read(file):
            yield piece
            moved(len(piece))


def _read(file: BinaryIO) -> Generator[bytes]:
    while piece := file.read(CHUNK):
        yield piece
