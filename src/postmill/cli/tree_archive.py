"""The part of the tree of commands that is about how long what is kept, and where it goes then."""

from __future__ import annotations

import typer

from postmill.cli.options import command, group


def grow(app: typer.Typer, panel: str) -> None:
    """Adds `retention` and `archive`."""
    retention_app = group("How long what is kept.")
    archive_app = group("The cold archive: history that was dropped.")
    app.add_typer(retention_app, name="retention", rich_help_panel=panel)
    command(
        retention_app, "list", examples=["postmill retention list", "postmill retention list --tenant bakery"]
    )("retention.list_")
    command(
        retention_app,
        "set",
        examples=[
            "postmill retention set succeeded 7d",
            "postmill retention set failed 365d --tenant bakery --reason 'their contract'",
            "postmill retention set archive 0 --tenant bakery --reason 'erasure asked for'",
        ],
    )("retention.set_")
    command(retention_app, "unset", examples=["postmill retention unset failed --tenant bakery"])(
        "retention.unset"
    )

    app.add_typer(archive_app, name="archive", rich_help_panel=panel)
    command(
        archive_app,
        "list",
        examples=["postmill archive list", "postmill archive list --url s3://bucket/archive --source job"],
    )("archive.list_")
    command(archive_app, "show", examples=["postmill archive show 0198f3a2-7c11-7abc-8def-0123456789ab"])(
        "archive.show"
    )
    command(
        archive_app,
        "read",
        examples=[
            "postmill archive read --source job --type send_mail --since 2031-05-01T00:00Z",
            "postmill archive read --tenant bakery --json | jq .row.payload",
        ],
    )("archive.read")
    command(
        archive_app, "verify", examples=["postmill archive verify", "postmill archive verify 0198f3a2 --json"]
    )("archive.verify")
    command(archive_app, "on", examples=["postmill archive on"])("archive.switch_on")
    command(archive_app, "off", examples=["postmill archive off --reason 'the bucket is given up'"])(
        "archive.switch_off"
    )
