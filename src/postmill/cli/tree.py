"""The tree of commands."""

from __future__ import annotations

import typer

from postmill.cli import exits
from postmill.cli.commands import doctor, init, migrate, version
from postmill.cli.options import Config, Debug, Dsn, Json, Schema, command
from postmill.cli.run import Given

HELP = "Postmill: background jobs on one Postgres."

EPILOG = "[bold]Exit codes[/]\n\n" + exits.table()

START = "Start here"
OPERATE = "Look and act"
CARE = "Care for the database"

app = typer.Typer(
    name="postmill",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def shared(
    context: typer.Context,
    config: Config = None,
    dsn: Dsn = None,
    schema: Schema = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Keep the options that stand before the command's name."""
    context.obj = Given(config=config, dsn=dsn, schema=schema, json=as_json, debug=debug)


command(app, "init", panel=START, examples=["postmill init", "postmill init shop"])(init.init)
command(
    app,
    "migrate",
    panel=CARE,
    examples=["postmill migrate", "postmill migrate --check", "postmill migrate --sql > schema.sql"],
)(migrate.migrate_schema)
command(app, "doctor", panel=CARE, examples=["postmill doctor", "postmill doctor --json --strict"])(doctor.doctor)
command(app, "version", panel=CARE)(version.show_version)
