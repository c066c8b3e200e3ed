"""The part of the tree of commands that is about workflows and batches."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group


def grow(app: typer.Typer, panel: str) -> None:
    """Adds `workflows`."""
    made = group("Jobs that wait for one another, and batches.")
    app.add_typer(made, name="workflows", rich_help_panel=panel)
    command(
        made,
        "list",
        examples=["postmill workflows list --status held", "postmill workflows list --kind batch --json"],
    )("workflows.list_")
    command(
        made,
        "show",
        examples=[
            "postmill workflows show 0198f3a2-7c11-7abc",
            "postmill workflows show 0198f3a2-7c11-7abc --format mermaid",
        ],
    )("workflows.show")
    command(
        made, "cancel", examples=["postmill workflows cancel 0198f3a2-7c11-7abc --reason 'wrong customer'"]
    )("workflows_act.cancel")
    command(made, "retry", examples=["postmill workflows retry 0198f3a2-7c11-7abc"])("workflows_act.retry")
    command(
        made,
        "release",
        examples=[
            "postmill workflows release 0198f3a2-7c11-7abc",
            "postmill workflows release 0198f3a2-7c11-7abc upload --reason 'done by hand'",
        ],
    )("workflows_act.release")
