"""The part of the tree of commands that is about causes of failures, and about holding back what fails."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group

errors_app = group("Causes of failures: what fails alike.")

command(
    errors_app,
    "list",
    examples=["postmill errors list --since 1h", "postmill errors list --type send_mail --json"],
)("errors.list_")
command(errors_app, "show", examples=["postmill errors show 5f2ab8c01d3e4f67"])("errors.show")
command(
    errors_app,
    "ignore",
    examples=["postmill errors ignore 5f2ab8c01d3e4f67 --for 2d --reason 'the bank is being moved'"],
)("errors_act.ignore")
command(
    errors_app,
    "resolve",
    examples=[
        "postmill errors resolve 5f2ab8c01d3e4f67",
        "postmill errors resolve 5f2ab8c01d3e4f67 --version 43",
    ],
)("errors_act.resolve")
command(errors_app, "reopen", examples=["postmill errors reopen 5f2ab8c01d3e4f67"])("errors_act.reopen")
command(errors_app, "note", examples=["postmill errors note 5f2ab8c01d3e4f67 'fixed at 03:10'"])(
    "errors_act.note"
)
command(errors_app, "notes", examples=["postmill errors notes 5f2ab8c01d3e4f67"])("errors_act.notes")
command(errors_app, "tenants", examples=["postmill errors tenants 5f2ab8c01d3e4f67 --json"])(
    "errors_act.tenants"
)


def add_pauses(definitions_app: typer.Typer) -> None:
    """`pause`, `resume` and `paused` of definitions."""
    command(
        definitions_app,
        "pause",
        examples=["postmill definitions pause charge_invoice --for 1h --reason 'fails since v42'"],
    )("definitions_pause.pause")
    command(definitions_app, "resume", examples=["postmill definitions resume charge_invoice"])(
        "definitions_pause.resume"
    )
    command(definitions_app, "paused", examples=["postmill definitions paused --json"])(
        "definitions_pause.paused"
    )
