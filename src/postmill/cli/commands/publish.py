"""`postmill publish NAME name=value …`: one event, and what came of it."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.commands.triggers_act import ContextOption, Fields, context_of
from postmill.cli.completion import complete_tenant
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.who import who
from postmill.client.publishing import publish as flow
from postmill.operate import tenants


def publish(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As provider.folder.updated.")],
    fields: Fields = None,
    whole: ContextOption = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="TENANT",
            help="Whose event it is: slug or id.",
            autocompletion=complete_tenant,
        ),
    ] = None,
    correlation_id: Annotated[
        str | None, typer.Option("--correlation-id", help="Its jobs carry it on; default: the event's id.")
    ] = None,
) -> None:
    """Publish an event: the triggers that wait for it make their jobs."""
    given = context_of(whole, fields)
    with run.connect() as conn:
        home = None if tenant is None else drive(conn, tenants.tenant(tenant, schema=run.schema)).id
        with conn.transaction():
            made = drive(
                conn,
                flow(
                    run.schema,
                    name,
                    given,
                    tenant=home,
                    correlation_id=correlation_id,
                    actor_type="user",
                    actor_id=who(),
                ),
            )
    if run.out.as_json:
        run.out.document(made)
        return
    run.out.say(f"event {made.id}", style="green")
    if not made.deliveries:
        run.out.note("no trigger waits for it")
        return
    rows = [
        (it.label, it.outcome, str(it.job_id) if it.job_id else None, it.detail) for it in made.deliveries
    ]
    run.out.console.print(table(("trigger", "outcome", "job", "detail"), rows))
