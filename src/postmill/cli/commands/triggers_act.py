"""`postmill triggers enable | disable | run`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from postmill.cli.assignments import parse_assignments
from postmill.cli.commands.triggers import Trigger
from postmill.cli.errors import CliError
from postmill.cli.run import Run
from postmill.cli.triggers import find_trigger
from postmill.operate import triggers

Fields = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME=VALUE", help="Fields of the event's context; NAME:=JSON for what is no text."
    ),
]
ContextOption = Annotated[
    str | None, typer.Option("--context", metavar="JSON", help="The event's context as a JSON object.")
]


def enable(run: Run, trigger: Trigger) -> None:
    """Switch a trigger on. A schedule is planned from now on: what it left out is not made up for."""
    _switch(run, trigger, on=True)


def disable(run: Run, trigger: Trigger) -> None:
    """Switch a trigger off."""
    _switch(run, trigger, on=False)


def run_(run: Run, trigger: Trigger, fields: Fields = None, whole: ContextOption = None) -> None:
    """Run a trigger by hand: a job at once, whatever its dedupe window says, also where it is disabled."""
    given = context_of(whole, fields)
    with run.connect() as conn:
        id = find_trigger(conn, run.schema, trigger)
        ran = run.act(conn, triggers.run(id, given, schema=run.schema))
    if run.out.as_json:
        run.out.document({"trigger_id": id, "job_id": ran.job_id, "outcome": ran.outcome})
        return
    run.out.say(f"{ran.outcome}: job {ran.job_id}", style="green")


def context_of(text: str | None, fields: list[str] | None) -> dict[str, Any]:
    """A context from --context and NAME=VALUE, the latter on top. Raises CliError for what is none."""
    base: Any = {}
    if text is not None:
        try:
            base = json.loads(text)
        except ValueError as fault:
            raise CliError(f"--context is not JSON: {fault}") from None
        if not isinstance(base, dict):
            raise CliError(
                "--context is a JSON object", """as in: --context '{"folder_path": "/invoices"}'"""
            )
    return parse_assignments(fields or [], {}, base, whole="--context {}")


def _switch(run: Run, trigger: str, *, on: bool) -> None:
    with run.connect() as conn:
        id = find_trigger(conn, run.schema, trigger)
        saved = run.act(conn, triggers.change(id, {"is_enabled": on}, schema=run.schema))
    if run.out.as_json:
        run.out.document({"trigger_id": id, "is_enabled": on, "next_run_at": saved.trigger.next_run_at})
        return
    run.out.say(
        f"trigger {saved.trigger.label} is {'enabled' if on else 'disabled'}",
        style="green" if on else "yellow",
    )
    for warning in saved.warnings if on else []:
        run.out.warn(warning)
