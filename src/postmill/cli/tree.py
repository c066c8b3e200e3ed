"""The tree of commands."""

from __future__ import annotations

import typer

from postmill.cli import exits
from postmill.cli.commands import (
    bench,
    dead,
    dead_act,
    doctor,
    enqueue,
    init,
    jobs,
    jobs_act,
    migrate,
    queues,
    settings,
    up,
    version,
    worker,
    workers,
)
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


jobs_app = typer.Typer(help="Look at jobs and act on them.", no_args_is_help=True)
queues_app = typer.Typer(help="Look at queues; pause and resume them; move what waits.", no_args_is_help=True)
dead_app = typer.Typer(help="Dead letters: jobs given up on, waiting for you.", no_args_is_help=True)
workers_app = typer.Typer(help="Look at workers.", no_args_is_help=True)

command(app, "init", panel=START, examples=["postmill init", "postmill init shop"])(init.init)
command(
    app,
    "up",
    panel=START,
    examples=[
        "postmill up jobs.py",
        "postmill up shop.jobs --data /var/lib/shop --port 8710",
        "postmill up jobs.py --dsn postgresql://localhost/shop",
    ],
)(up.up)
command(
    app,
    "worker",
    panel=START,
    examples=[
        "postmill worker jobs.py",
        "postmill worker shop.jobs --queues high=20,default=10 --processes 4",
        "postmill worker shop.jobs --port 9100",
    ],
)(worker.worker)
command(app, "upkeep", panel=CARE, examples=["postmill upkeep --port 9100"])(worker.upkeep)
command(
    app,
    "enqueue",
    panel=START,
    examples=[
        "postmill enqueue greet name=Ada times=5 --wait",
        "postmill enqueue send_mail to=ada@example.org --delay 10m --key welcome:42",
        "postmill enqueue resize sizes:='[64, 128]' --wait --timeout 30s",
        'echo \'{"name": "Ada"}\' | postmill enqueue greet --payload -',
    ],
)(enqueue.enqueue)

app.add_typer(jobs_app, name="jobs", rich_help_panel=OPERATE)
command(
    jobs_app,
    "list",
    examples=["postmill jobs list --status running", "postmill jobs list --type greet --json"],
)(jobs.list_)
command(jobs_app, "show", examples=["postmill jobs show 0198f3a2-7c11-7abc"])(jobs.show)
command(jobs_app, "cancel", examples=["postmill jobs cancel 0198f3a2-7c11-7abc --reason 'wrong customer'"])(
    jobs_act.cancel
)
command(jobs_app, "retry", examples=["postmill jobs retry 0198f3a2-7c11-7abc"])(jobs_act.retry)
command(
    jobs_app, "register", examples=["postmill jobs register jobs.py", "postmill jobs register shop.jobs"]
)(jobs_act.register)

app.add_typer(queues_app, name="queues", rich_help_panel=OPERATE)
command(queues_app, "list", examples=["postmill queues list"])(queues.list_)
command(queues_app, "pause", examples=["postmill queues pause mail --reason 'provider is down' --for 30m"])(
    queues.pause
)
command(queues_app, "resume", examples=["postmill queues resume mail"])(queues.resume)
command(
    queues_app,
    "move",
    examples=["postmill queues move send_mail", "postmill queues move send_mail --to bulk"],
)(queues.move)

app.add_typer(dead_app, name="dead", rich_help_panel=OPERATE)
command(dead_app, "list", examples=["postmill dead list --reason max_retries_exceeded"])(dead.list_)
command(dead_app, "show", examples=["postmill dead show 0198f3a2-7c11-7abc"])(dead.show)
command(
    dead_app,
    "replay",
    examples=["postmill dead replay 0198f3a2-7c11-7abc", "postmill dead replay --all --type greet --yes"],
)(dead_act.replay)
command(
    dead_app, "discard", examples=["postmill dead discard 0198f3a2-7c11-7abc --reason 'no longer needed'"]
)(dead_act.discard)

app.add_typer(workers_app, name="workers", rich_help_panel=OPERATE)
command(workers_app, "list", examples=["postmill workers list --all"])(workers.list_)

command(
    app,
    "migrate",
    panel=CARE,
    examples=["postmill migrate", "postmill migrate --check", "postmill migrate --sql > schema.sql"],
)(migrate.migrate_schema)
command(app, "doctor", panel=CARE, examples=["postmill doctor", "postmill doctor --json --strict"])(
    doctor.doctor
)
command(
    app,
    "bench",
    panel=CARE,
    passes_options=True,
    examples=["postmill bench throughput --json", "postmill bench latency --jobs 2000"],
)(bench.bench)
command(app, "settings", panel=CARE, examples=["postmill settings --set"])(settings.settings)
command(app, "version", panel=CARE)(version.show_version)
