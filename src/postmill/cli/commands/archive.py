"""`postmill archive list | show | read | verify`: the cold archive as people read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from postmill.archive.reading import ArchivedRow, Wanted, rows_of
from postmill.archive.reading import verify as compared
from postmill.bind import drive
from postmill.bind import run as statement
from postmill.cli.ages import length, relative
from postmill.cli.archive_page import archived_page
from postmill.cli.archives import Archive, job_named, unit_named
from postmill.cli.completion import complete_job_type, complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import server_now, tenant_id
from postmill.cli.progress import moving
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import moment
from postmill.domain.archive import SOURCES, Manifest
from postmill.domain.errors import ArchiveDamaged, InvalidValue
from postmill.operate import archive as operate
from postmill.operate.archive import ArchivedJob
from postmill.store import archive as store

Url = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="URL", help="Another archive than that of the settings; the database is not asked."
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="TABLE",
        help=f"Only of this table: {', '.join(SOURCES)}.",
        autocompletion=lambda: list(SOURCES),
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(metavar="TENANT", help="Only of this tenant: slug or id.", autocompletion=complete_tenant),
]
Since = Annotated[str | None, typer.Option(metavar="MOMENT", help="Only what happened then or later.")]
Until = Annotated[str | None, typer.Option(metavar="MOMENT", help="Only what happened before.")]


def list_(run: Run, source: Source = None, url: Url = None) -> None:
    """List the units of the archive, and what waits to go there."""
    _source(source)
    archive = Archive(run, url)
    with archive.database() as conn:
        if conn is None:
            _list_manifests(run, archive.manifests(None, Wanted(), source))
            return
        found = drive(conn, operate.all_units(source=source, schema=run.schema))
        state = statement(conn, store.state(schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({"units": found, "state": state})
        return
    columns = ("unit", "table", "since", "until", "rows", "bytes", "archived", "status")
    rows = [
        (
            str(one.id), one.source, f"{one.since:%Y-%m-%d %H:%M}", f"{one.until:%Y-%m-%d %H:%M}",
            "–" if one.rows is None else f"{one.rows:,}", "–" if one.bytes is None else f"{one.bytes:,}",
            "–" if one.archived_at is None else relative(one.archived_at, now), one.error or one.status,
        )
        for one in found
    ]  # fmt: skip
    if rows:
        run.out.console.print(table(columns, rows, right=("rows", "bytes")))
    else:
        run.out.say("nothing in the archive yet")
    if state.waiting:
        run.out.note(f"{state.waiting} wait, the oldest for {length(state.oldest_seconds or 0)}")
    elif not state.required:
        run.out.note("no archive is in use: set archive.url for the workers")


def show(
    run: Run,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Whole id of a job.")],
    url: Url = None,
) -> None:
    """Show what the archive has of one job: its body, attempts and end."""
    archive, id = Archive(run, url), job_named(job)
    wanted = Wanted(job=id)
    with archive.database() as conn:
        found = ArchivedJob.of(id, _rows(run, archive, archive.manifests(conn, wanted), wanted))
        if conn is not None:
            found = drive(conn, operate.shown(found, run.settings.encryption.ring, schema=run.schema))
        else:
            found = operate.guarded(found)
    run.out.show(found, lambda: archived_page(found))


def read(
    run: Run,
    unit: Annotated[str | None, typer.Argument(metavar="UNIT", help="Only this unit.")] = None,
    source: Source = None,
    job: Annotated[str | None, typer.Option(metavar="JOB", help="Only of this job.")] = None,
    tenant: Tenant = None,
    job_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only bodies of this job type.", autocompletion=complete_job_type
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    url: Url = None,
) -> None:
    """Write rows of the archive to stdout as they were, one JSON object a line; with --json each with its table and unit."""
    archive = Archive(run, url)
    with archive.database() as conn:
        owner = _tenant(conn, run, tenant)
        wanted = Wanted(
            None if job is None else job_named(job), owner, job_type, moment(since, "--since"), moment(until, "--until")
        )  # fmt: skip
        found = archive.manifests(conn, wanted, _source(source))
    if unit is not None:
        found = [unit_named(found, unit)]
    out = run.out.console.file
    for row in _rows(run, archive, found, wanted):
        line = row.line.decode()
        if run.out.as_json:
            line = f'{{"source":"{row.source}","unit":"{row.unit}","row":{line.rstrip()}}}\n'
        out.write(line)
    out.flush()


def verify(
    run: Run,
    units: Annotated[list[str] | None, typer.Argument(metavar="UNIT", help="Only these units.")] = None,
    source: Source = None,
    url: Url = None,
) -> None:
    """Read units in the archive and compare them with their manifests: row counts, checksums, tenants."""
    archive = Archive(run, url)
    with archive.database() as conn:
        found = archive.manifests(conn, Wanted(), _source(source))
    if units:
        found = [unit_named(found, one) for one in units]
    results = [_compared(run, archive, one, asked=url is None) for one in found]
    if run.out.as_json:
        run.out.document(results)
    else:
        for one in results:
            run.out.say(
                f"{one['folder']}: {one['fault'] or 'as it was written'}", style="" if one["ok"] else "red"
            )
        if not results:
            run.out.say("nothing in the archive yet")
    if not all(one["ok"] for one in results):
        raise typer.Exit(ExitCode.FAILED)


def switch_on(
    run: Run, reason: Annotated[str | None, typer.Option(help="Why; for the audit log.")] = None
) -> None:
    """Archive again what is past its retention, before it is dropped."""
    _switch(run, True, reason)


def switch_off(
    run: Run, reason: Annotated[str | None, typer.Option(help="Why; for the audit log.")] = None
) -> None:
    """Drop what is past its retention without an archive, also what waits for it; what is in it stays."""
    _switch(run, False, reason)


def _switch(run: Run, on: bool, reason: str | None) -> None:
    with run.connect() as conn:
        changed = run.act(conn, operate.switch(on, reason=reason, schema=run.schema))
    if run.out.as_json:
        run.out.document({"required": on, "changed": changed})
    else:
        said = "history is archived before it is dropped" if on else "history is dropped without an archive"
        run.out.say(said if changed else f"as it was: {said}")


def _list_manifests(run: Run, found: list[Manifest]) -> None:
    run.out.show(
        [one.document() for one in found],
        lambda: table(
            ("unit", "table", "since", "until", "rows", "bytes", "format"),
            [
                (str(one.unit), one.source, f"{one.since:%Y-%m-%d %H:%M}", f"{one.until:%Y-%m-%d %H:%M}",
                 f"{one.rows:,}", f"{one.size:,}", one.format)
                for one in found
            ],
            right=("rows", "bytes"),
        ),
    )  # fmt: skip


def _rows(run: Run, archive: Archive, manifests: list[Manifest], wanted: Wanted) -> Iterator[ArchivedRow]:
    size = sum(part.size for one in manifests for part in one.parts if wanted.part(part))
    with moving(run.out, "archive", size) as moved:
        for one in manifests:
            yield from rows_of(archive.place, one, wanted, moved)


def _compared(run: Run, archive: Archive, manifest: Manifest, *, asked: bool) -> dict[str, Any]:
    fault = None
    try:
        with moving(run.out, manifest.folder, manifest.size) as moved:
            there = archive.place.manifest(manifest.folder)
            if asked and there != manifest:
                raise ArchiveDamaged(f"{manifest.folder} has another manifest than the database knows")
            compared(archive.place, there, moved)
    except ArchiveDamaged as error:
        fault = str(error)
    return {
        "unit": manifest.unit, "folder": manifest.folder, "rows": manifest.rows, "ok": fault is None, "fault": fault
    }  # fmt: skip


def _source(text: str | None) -> str | None:
    if text is not None and text not in SOURCES:
        raise InvalidValue(f"--source {text!r} is none: {', '.join(SOURCES)}")
    return text


def _tenant(conn: Any, run: Run, text: str | None) -> Any:
    if conn is not None or text is None:
        return None if conn is None else tenant_id(conn, run.schema, text)
    try:
        return job_named(text)
    except CliError:
        raise CliError("with --url a tenant is named by its id") from None
