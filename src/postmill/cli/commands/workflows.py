"""`postmill workflows list | show`."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.completion import complete_workflow
from postmill.cli.errors import CliError
from postmill.cli.ids import short
from postmill.cli.lookups import find_workflow, server_now
from postmill.cli.run import Run
from postmill.cli.workflow_page import workflow_page, workflow_table
from postmill.client import workflow_care as care
from postmill.domain import graph
from postmill.domain.workflow_view import KINDS, STATUSES

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The workflow's id, whole or its beginning.", autocompletion=complete_workflow
    ),
]
FORMATS = ("tree", "mermaid", "dot")


def list_(
    run: Run,
    status: Annotated[
        str | None, typer.Option(help=f"In this state: {', '.join(STATUSES)}.", metavar="STATUS")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="workflow or batch.", metavar="KIND")] = None,
    name: Annotated[str | None, typer.Option(help="Of exactly this name.", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=10_000)] = 50,
) -> None:
    """List workflows and batches, the newest first."""
    _one_of(status, STATUSES, "--status")
    _one_of(kind, KINDS, "--kind")
    with run.connect() as conn:
        flow = care.workflows(run.schema, kind=kind, status=status, name=name, limit=limit)
        found = drive(conn, flow)
        now = server_now(conn, run.schema)
    if not found and not run.out.as_json:
        run.out.say("no workflows")
        return
    run.out.show(found, lambda: workflow_table(found, now, short_ids=run.out.short_ids))


def show(
    run: Run,
    workflow: Id,
    format_: Annotated[
        str,
        typer.Option("--format", help=f"How the graph is written: {', '.join(FORMATS)}.", metavar="FORMAT"),
    ] = "tree",
) -> None:
    """Show a workflow and its steps. Many steps alike are folded into one line."""
    _one_of(format_, FORMATS, "--format")
    with run.connect() as conn:
        found = drive(conn, care.workflow_graph(run.schema, find_workflow(conn, run.schema, workflow)))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
    elif format_ == "tree":
        run.out.show(found, lambda: workflow_page(found, now))
        if found.workflow.status == "held":
            id = short(found.workflow.id)
            run.out.note(f"run again what did not succeed: postmill workflows retry {id}")
            run.out.note(f"or let held steps go on: postmill workflows release {id}")
    else:
        write = graph.mermaid if format_ == "mermaid" else graph.dot
        run.out.say(write(found.steps, found.edges))


def _one_of(given: str | None, known: tuple[str, ...], option: str) -> None:
    if given is not None and given not in known:
        raise CliError(f"{option} {given!r} is none of {', '.join(known)}")
