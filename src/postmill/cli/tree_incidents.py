"""The part of the tree of commands that is about incidents and who is told of them."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group


def grow(app: typer.Typer, panel: str) -> None:
    """Adds `incidents` and `channels`."""
    incidents_app = group("What is wrong, since when, and who takes care of it.")
    channels_app = group("Where people are told of incidents.")
    app.add_typer(incidents_app, name="incidents", rich_help_panel=panel)
    command(
        incidents_app,
        "list",
        examples=["postmill incidents list", "postmill incidents list --status all --kind sla_breach"],
    )("incidents.list_")
    command(incidents_app, "show", examples=["postmill incidents show 0198f3a2-7c11-7abc"])("incidents.show")
    command(
        incidents_app,
        "ack",
        examples=["postmill incidents ack 0198f3a2-7c11-7abc --reason 'switched to the other feed'"],
    )("incidents.ack")
    command(incidents_app, "resolve", examples=["postmill incidents resolve 0198f3a2-7c11-7abc"])(
        "incidents.resolve"
    )
    app.add_typer(channels_app, name="channels", rich_help_panel=panel)
    command(channels_app, "list", examples=["postmill channels list", "postmill channels list --json"])(
        "channels.list_"
    )
    command(channels_app, "test", examples=["postmill channels test '#ops-alerts'"])("channels.test")
