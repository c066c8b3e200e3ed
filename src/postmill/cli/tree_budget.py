"""The commands of `postmill budget`."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group


def grow(app: typer.Typer, panel: str) -> None:
    """Adds them to the tree."""
    budget_app = group("Caps on spend per period.")
    app.add_typer(budget_app, name="budget", rich_help_panel=panel)
    command(budget_app, "list", examples=["postmill budget list"])("budget.list_")
    command(
        budget_app,
        "show",
        examples=[
            "postmill budget show ai-tagging",
            "postmill budget show ai-tagging --by actor --period 2025-01",
        ],
    )("budget.show")
    command(
        budget_app,
        "set",
        examples=[
            "postmill budget set ai-tagging --limit 500",
            "postmill budget set ai-tagging --for 2025-12 --limit 750 --reason 'Christmas'",
            "postmill budget set ai-tagging --limit 750 --until 2025-12-26T00:00Z",
            "postmill budget set ai-tagging --level reduce=60:0.25:run --alert 60=info --alert 95=critical",
        ],
    )("budget_act.set_")
    command(budget_app, "requests", examples=["postmill budget requests --status open"])(
        "budget_requests.requests"
    )
    command(
        budget_app,
        "ask",
        examples=["postmill budget ask ai-tagging --tenant bakery --limit 700 --reason 'Christmas'"],
    )("budget_requests.ask")
    command(budget_app, "grant", examples=["postmill budget grant 0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e42"])(
        "budget_requests.grant"
    )
    command(
        budget_app,
        "decline",
        examples=["postmill budget decline 0198f3a2-7c11-7abc-8d2e-5a1c9f0b7e42 --answer 'not this month'"],
    )("budget_requests.decline")
    command(budget_app, "history", examples=["postmill budget history ai-tagging --months 12"])(
        "budget.history"
    )
    command(budget_app, "lines", examples=["postmill budget lines ai-tagging --period 2025-01"])(
        "budget.lines"
    )
    command(
        budget_app,
        "correct",
        examples=["postmill budget correct ai-tagging --reason 'the invoice says less' -- -1.50"],
    )("budget_act.correct")
