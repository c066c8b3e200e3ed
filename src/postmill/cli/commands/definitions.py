"""`postmill definitions list | show | create | edit`: the allow-list of job types."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from postmill.bind import drive
from postmill.cli.completion import complete_job_type, complete_queue
from postmill.cli.definition_fields import fields_of
from postmill.cli.job_page import as_json
from postmill.cli.output import jsonable
from postmill.cli.run import Run
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line, plain
from postmill.operate import definitions
from postmill.store.definition_rows import DefinitionView

Kind = Literal["function", "command", "http"]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The job type.", autocompletion=complete_job_type)]
Fields = Annotated[
    list[str] | None,
    typer.Argument(metavar="FIELD=VALUE", help="Fields; FIELD:=JSON for lists, objects and null."),
]
From = Annotated[
    str | None, typer.Option("--from", metavar="FILE", help="Fields as a JSON object; - is standard input.")
]

DRIFT = {
    "unserved": "no live worker serves it",
    "queue_unserved": "no worker that knows it claims from its queue",
    "differs": "a live worker runs other code than what is registered",
}


def list_(
    run: Run,
    kind: Annotated[Kind | None, typer.Option(help="Only of this kind: function, command, http.")] = None,
    queue: Annotated[
        str | None,
        typer.Option("--queue", metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
    ] = None,
    inactive: Annotated[bool, typer.Option("--inactive", metavar="", help="Only such that are off.")] = False,
    after: Annotated[str | None, typer.Option(metavar="KEY", help="Only after this key (next page).")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many.")] = 100,
) -> None:
    """List job definitions, and where workers differ from them."""
    with run.connect() as conn:
        flow = definitions.definitions(
            kind=kind,
            queue=queue,
            active=False if inactive else None,
            after=after,
            most=limit,
            schema=run.schema,
        )
        found = drive(conn, flow)
    if run.out.as_json:
        run.out.document({"definitions": found, "after": found[-1].key if len(found) == limit else None})
        return
    if not found:
        run.out.say("no such definitions")
        return
    columns = ("key", "kind", "queue", "version", "active", "workers", "drift")
    rows = [
        (one.key, one.kind, one.queue, str(one.version), "yes" if one.is_active else "no", str(len(one.served_by)),
         ", ".join(one.drift))
        for one in found
    ]  # fmt: skip
    run.out.console.print(table(columns, rows, right=("version", "workers")))
    if len(found) == limit:
        run.out.note(f"more: postmill definitions list --after {found[-1].key}")


def show(
    run: Run,
    key: Key,
    versions: Annotated[
        bool, typer.Option("--versions", metavar="", help="Who changed it, and when.")
    ] = False,
) -> None:
    """Show one definition, and the live workers that serve it; with --versions its history."""
    with run.connect() as conn:
        found = drive(conn, definitions.definition(key, schema=run.schema))
        history = drive(conn, definitions.versions(found.id, schema=run.schema)) if versions else []
    if run.out.as_json:
        run.out.document({"definition": found, **({"versions": history} if versions else {})})
        return
    run.out.console.print(_page(found))
    if versions:
        rows = [
            (str(one.version), one.at.astimezone().isoformat(sep=" ", timespec="seconds"), one.via, one.actor_id or "")
            for one in history
        ]  # fmt: skip
        run.out.console.print(table(("version", "at", "via", "by"), rows, right=("version",)))


def create(run: Run, key: Key, fields: Fields = None, file: From = None) -> None:
    """Put a job type on the allow-list: a command, a type for workers over HTTP, or one that code will register.

    What is run, in which queue, how often it is tried and so on are fields; see the reference for all of them.
    """
    given = fields_of(fields or [], file)
    with run.connect() as conn:
        flow = definitions.create(
            {**given, "key": key}, default_argv=run.settings.commands.argv_template, schema=run.schema
        )
        _tell(run, run.act(conn, flow), "created")


def edit(
    run: Run,
    key: Key,
    fields: Fields = None,
    file: From = None,
    release: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD", help="An edited field that is the code's again, from its next start on."
        ),
    ] = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="Refuse if the definition has another version by now.")
    ] = None,
) -> None:
    """Change fields of a definition. Of a type that code registers they are yours from then on, until released."""
    changes = fields_of(fields or [], file)
    with run.connect() as conn:
        found = drive(conn, definitions.definition(key, schema=run.schema))
        flow = definitions.edit(found.id, changes, release=release or (), version=version, schema=run.schema)
        edited = run.act(conn, flow)
        _tell(run, edited, "changed" if edited.version != found.version else "unchanged")


def _tell(run: Run, definition: DefinitionView, status: str) -> None:
    facts = {"id": definition.id, "key": definition.key, "version": definition.version, "status": status}
    run.out.show(
        facts,
        lambda: Text(f"{status} {definition.key}, version {definition.version}, queue {definition.queue}"),
    )


def _page(one: DefinitionView) -> Any:
    shown = {
        "key": one.key + ("" if one.is_active else " (off)"),
        "kind": f"{one.kind}, version {one.version}",
        "description": one_line(one.description, 200) if one.description else None,
        "queue": f"{one.queue}, priority {one.priority}",
        "argv": json.dumps(one.argv_template, ensure_ascii=False) if one.argv_template else None,
        "environment": ", ".join(one.env_allow) or None,
        "payload": as_json(one.arg_schema) if one.arg_schema else None,
        "timeout": None if one.timeout_seconds is None else f"{one.timeout_seconds:g} s",
        "attempts": str(one.max_attempts),
        "retry": json.dumps(one.retry, default=jsonable) if one.retry else None,
        "idempotency": one.idempotency,
        "category": one.category,
        "envelope": "strict" if one.strict_envelope else None,
        "secrets": f"{one.secrets}{': ' + ', '.join(one.secret_keys) if one.secret_keys else ''}",
        "encrypted": "yes" if one.encrypted else None,
        "replay": one.replay_class,
        "action": one_line(one.action, 200) if one.action else None,
        "budget": one.budget,
        "in its log lines": ", ".join(one.log_fields) or None,
        "shown to who is told": ", ".join(one.escalation_fields) or None,
        "yours, not the code's": ", ".join(one.edited) or None,
        "served by": ", ".join(by.worker_id for by in one.served_by) or "nobody",
        "drift": "; ".join(DRIFT[word] for word in one.drift) or None,
    }
    return pairs([(name, None if value is None else plain(value)) for name, value in shown.items()])
