"""`flask postmill …`: the command line of Postmill on the application's database."""

from __future__ import annotations

import os

import click
from flask import current_app
from flask.cli import ScriptInfo, with_appcontext

from postmill.contrib.launching import become_postmill
from postmill.store.catalog import DEFAULT_SCHEMA

REGISTRY = "postmill.contrib.flask.registry"


@click.command(
    "postmill",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
@with_appcontext
def postmill_command(context: click.Context, words: tuple[str, ...]) -> None:
    """Postmill's command line; `worker` runs the jobs of POSTMILL_MODULES."""
    config = current_app.config
    env: dict[str, str] = {}
    if config["POSTMILL_SCHEMA"] != DEFAULT_SCHEMA:
        env["POSTMILL_SCHEMA"] = config["POSTMILL_SCHEMA"]
    path = context.ensure_object(ScriptInfo).app_import_path
    if path is not None:
        env["FLASK_APP"] = os.fspath(path)
    if words[:1] == ("worker",) and config["POSTMILL_MODULES"]:
        words = ("worker", REGISTRY, *words[1:])
    become_postmill(words, config["POSTMILL_DATABASE_URL"], env)
