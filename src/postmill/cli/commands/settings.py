"""`postmill settings`: what is in force, and where it comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.text import Text

from postmill.cli.database import described
from postmill.cli.output import jsonable
from postmill.cli.run import Run
from postmill.cli.settings_sources import DEFAULT, Length, Setting, effective
from postmill.cli.tables import table
from postmill.client.address import LEFT_BY_UP, left_by_up


def settings(
    run: Run,
    only_set: Annotated[bool, typer.Option("--set", metavar="", help="Only what is not a default.")] = False,
) -> None:
    """Print the settings in force and their sources. Secrets are hidden, databases shown without password."""
    found = [_with_local(setting) for setting in effective(run.settings, run.given)]
    if only_set:
        found = [setting for setting in found if setting.source != DEFAULT]
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("all settings have their defaults")
        return
    rows = [
        (
            setting.key,
            _text(setting.value),
            Text(setting.source, style="dim" if setting.source == DEFAULT else "green"),
        )
        for setting in found
    ]
    run.out.console.print(table(("setting", "value", "source"), rows))


def _with_local(setting: Setting) -> Setting:
    """Without a setting, the database is the one that `postmill up` left here."""
    if setting.key != "database_url" or setting.value is not None:
        return setting
    dsn = left_by_up()
    return setting if dsn is None else Setting(setting.key, described(dsn), f"{LEFT_BY_UP} (postmill up)")


def _text(value: object) -> str:
    return (
        str(value)
        if isinstance(value, str | Length)
        else json.dumps(value, default=jsonable, ensure_ascii=False)
    )
