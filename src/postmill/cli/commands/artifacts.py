"""`postmill artifacts list | get | verify`: files that jobs read or made."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import psycopg
import typer

from postmill.artifacts.opening import Opening
from postmill.artifacts.reading import Reading
from postmill.artifacts.storage import Storage
from postmill.bind import run as statement
from postmill.cli.ages import relative
from postmill.cli.completion import complete_job
from postmill.cli.errors import CliError
from postmill.cli.lookups import find_ids, server_now
from postmill.cli.progress import moving
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.client.artifact_flows import Place
from postmill.client.artifacts import Artifacts, not_awaited
from postmill.domain.artifact import Artifact
from postmill.domain.errors import ArtifactDamaged, PostmillError

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of an artifact, or artifact:ID.")]
Job = Annotated[
    str | None,
    typer.Argument(
        metavar="JOB",
        help="Job id, whole or its beginning; none: those that no job made.",
        autocompletion=complete_job,
    ),
]

COLUMNS = ("id", "name", "type", "bytes", "made", "expires")


def place_of(run: Run) -> Place:
    """Where the artifacts are that this command is about."""
    return Place(run.schema, Storage(run.settings_here.artifacts))


@contextmanager
def artifacts_of(run: Run) -> Iterator[tuple[psycopg.Connection[Any], Artifacts]]:
    """A connection, and the artifacts that it and the settings lead to."""
    with run.connect() as conn:
        yield conn, Artifacts(place_of(run), lambda one: statement(conn, one), not_awaited)


def list_(run: Run, job: Job = None) -> None:
    """List the artifacts of a job, or those that jobs are to read."""
    with artifacts_of(run) as (conn, artifacts):
        found = artifacts.list(None if job is None else find_ids(conn, run.schema, [job])[0])
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("no artifacts" if job is None else "this job has no artifacts")
        return
    rows = [
        (
            str(one.id),
            one.name,
            one.content_type,
            f"{one.size:,}",
            relative(one.created_at, now),
            relative(one.expires_at, now),
        )
        for one in found
    ]
    run.out.console.print(table(COLUMNS, rows, right=("bytes",)))


def get(
    run: Run,
    id: Id,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to; -: standard output (default: its own name, here).",
        ),
    ] = None,
) -> None:
    """Download an artifact, and compare it with its checksum. A file that is there already is not replaced."""
    with artifacts_of(run) as (_, artifacts), artifacts.open(id) as reading:
        if output is not None and str(output) == "-":
            if run.out.as_json:
                raise CliError("--json and --output - both want standard output", "name a file")
            _copy(run, reading, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        target = Path(reading.artifact.name) if output is None else output
        if target.is_dir():
            target /= reading.artifact.name
        _save(run, reading, target)
    run.out.show(
        {"file": target, "artifact": reading.artifact}, lambda: f"{target}: {_said(reading.artifact)}"
    )


def verify(
    run: Run,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of artifacts, or artifact:ID.")
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(
            "--job",
            metavar="JOB",
            help="All of this job, by its id or its beginning.",
            autocompletion=complete_job,
        ),
    ] = None,
) -> None:
    """Read artifacts in the store and compare them with their checksums."""
    if not ids and job is None:
        raise CliError("nothing to verify is named", "give ids of artifacts, or --job")
    with artifacts_of(run) as (conn, artifacts):
        named: list[str | UUID] = [*(ids or [])]
        if job is not None:
            named += [one.id for one in artifacts.list(find_ids(conn, run.schema, [job])[0])]
        results = [_verified(run, artifacts.get(id), artifacts.open(id)) for id in named]
    damaged = [one for one in results if not one["ok"]]
    if run.out.as_json:
        run.out.document(results)
    else:
        for one in results:
            run.out.say(
                f"{one['id']} {one['name']}: {one['fault'] or 'as it was put'}",
                style="" if one["ok"] else "red",
            )
    if damaged:
        raise typer.Exit(1)


def _verified(run: Run, artifact: Artifact, opening: Opening) -> dict[str, Any]:
    fault = None
    try:
        with opening as reading, moving(run.out, artifact.name, artifact.size) as moved:
            for chunk in reading:
                moved(len(chunk))
    except ArtifactDamaged as error:
        fault = str(error)
    return {"id": artifact.id, "name": artifact.name, "ok": fault is None, "fault": fault}


def _copy(run: Run, reading: Reading, file: BinaryIO) -> None:
    with moving(run.out, reading.artifact.name, reading.artifact.size) as moved:
        for chunk in reading:
            file.write(chunk)
            moved(len(chunk))


def _save(run: Run, reading: Reading, target: Path) -> None:
    """Whole or not at all, and never in the place of something else."""
    beside = target.with_name(f".{reading.artifact.id}.part")
    try:
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666), "wb"
        ) as file:
            _copy(run, reading, file)
        os.link(beside, target)
    except FileExistsError:
        raise CliError(f"{target} is there already", "name another file with --output") from None
    except OSError as fault:
        raise PostmillError(f"{target} cannot be written: {fault.strerror or fault}") from None
    finally:
        beside.unlink(missing_ok=True)


def _said(artifact: Artifact) -> str:
    return f"{artifact.size:,} bytes, SHA-256 {artifact.sha256}"
