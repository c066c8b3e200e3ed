"""`postmill dead edit`: fix-forward, a replay with other arguments."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from postmill.bind import drive
from postmill.cli.assignments import parse_assignments
from postmill.cli.commands.jobs_act import RERUN
from postmill.cli.completion import complete_dead
from postmill.cli.editor import edited_text
from postmill.cli.errors import CliError
from postmill.cli.job_page import as_json
from postmill.cli.json_schema import Schema, properties
from postmill.cli.lookups import find_ids, job_type_shape
from postmill.cli.outcomes import report
from postmill.cli.run import Run
from postmill.cli.text import one_line
from postmill.cli.who import who
from postmill.domain.encryption import KeyRing
from postmill.domain.errors import SettingsError
from postmill.operate import commands, editing, insight
from postmill.operate.payloads import readable


def edit(
    run: Run,
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Job id, whole or its beginning.", autocompletion=complete_dead),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]", help="As of enqueue; none opens your editor."),
    ] = None,
    despite_success: Annotated[
        bool,
        typer.Option(
            "--despite-success", metavar="", help="Also if a later job has succeeded with these arguments."
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", metavar="", help="Do not ask, also where the definition says replay_class = ask."
        ),
    ] = False,
) -> None:
    """Run a dead letter again with other arguments, as a new job that knows whose replay it is.

    They are checked against the job type as it is now. What was changed is shown, and audited without its secrets.
    """
    with run.connect() as conn:
        [whole] = find_ids(conn, run.schema, [id])
        letter = drive(conn, insight.dead_letter(whole, schema=run.schema))
        if letter.job_type is None:
            raise CliError("the job's body is gone", "enqueue a new job")
        ring = run.settings.encryption.ring
        old = readable(letter.payload, letter.tenant_id, letter.job_type, ring)
        base = old if isinstance(old, dict) else {}
        if arguments:
            shape = job_type_shape(conn, run.schema, letter.job_type)
            new = parse_assignments(arguments, _with_types(shape.schema, base), base)
        else:
            new = _by_editor(run, base)
        flow = editing.edited(
            letter.job_type,
            letter.tenant_id,
            letter.payload,
            payload=new,
            ring=lambda: _keys(ring),
            schema=run.schema,
        )
        made = drive(conn, flow)
        if not made.changes:
            raise CliError("nothing was changed", f"as it is: postmill dead replay {letter.id}")
        _tell(run, made.changes)
        if not yes:
            if run.out.as_json or not sys.stdin.isatty():
                raise CliError("the edit is not confirmed", "add --yes")
            typer.confirm("replay with this?", abort=True, err=True)
        answers = run.act(
            conn,
            commands.replay(
                [letter.id],
                payload=made.payload,
                changes=made.changes,
                confirm=True,
                despite_success=despite_success,
                actor_id=who(),
                schema=run.schema,
            ),
        )
    report(run, [(answer.id, answer.status, answer.new_id) for answer in answers], RERUN)


def _with_types(schema: Schema, base: dict[str, Any]) -> Schema:
    """The schema; of fields that it says nothing about the new value is of the old one's type."""
    known = properties(schema)
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    guessed = {
        name: {"type": kinds[type(value)]}
        for name, value in base.items()
        if name not in known and type(value) in kinds
    }
    return {**schema, "properties": {**guessed, **known}} if guessed else schema


def _by_editor(run: Run, base: dict[str, Any]) -> dict[str, Any]:
    if run.out.as_json or not sys.stdin.isatty():
        raise CliError(
            "what shall be changed?", "postmill dead edit ID name=value …; on a terminal it opens $EDITOR"
        )
    text = edited_text(json.dumps(base, indent=2, ensure_ascii=False) + "\n")
    try:
        found = json.loads(text)
    except ValueError as fault:
        raise CliError(f"what was written is not JSON: {fault}") from None
    if not isinstance(found, dict):
        raise CliError(f"a payload is a JSON object, not {type(found).__name__}")
    return found


def _tell(run: Run, changes: list[dict[str, Any]]) -> None:
    if run.out.as_json:
        return
    for one in changes:
        before = one_line(as_json(one["before"]), 80) if "before" in one else "(nothing)"
        after = one_line(as_json(one["after"]), 80) if "after" in one else "(nothing)"
        run.out.side.print(
            Text.assemble((one["path"], "bold"), "  ", (before, "red"), " → ", (after, "green"))
        )


def _keys(ring: KeyRing | None) -> KeyRing:
    if ring is None:
        raise SettingsError("payloads of this job type are encrypted, and encryption.keys is empty here")
    return ring
