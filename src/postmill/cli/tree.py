"""The tree of commands."""

from __future__ import annotations

import typer

from postmill.cli import exits, tree_access, tree_archive, tree_budget, tree_incidents, tree_workflows
from postmill.cli.app import Group
from postmill.cli.errors import CliError
from postmill.cli.given import Given
from postmill.cli.options import Cell, Config, Debug, Dsn, Json, Schema, Version, command, group
from postmill.cli.tree_dead import dead_app, operations_app
from postmill.cli.tree_errors import add_pauses, errors_app

HELP = "Postmill: background jobs on one Postgres."

EPILOG = "Exit codes\n" + exits.table()

START = "Start here"
OPERATE = "Look and act"
ACCESS = "Who may do what, and who did"
CARE = "Care for the database"

app = typer.Typer(
    name="postmill",
    help=HELP,
    cls=Group,
    epilog=EPILOG,
    no_args_is_help=True,
    invoke_without_command=True,
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
    cell: Cell = None,
    show_version: Version = False,
) -> None:
    """Keep the options that stand before the command's name."""
    context.obj = given = Given(config=config, dsn=dsn, schema=schema, json=as_json, debug=debug, cell=cell)
    if show_version:
        from postmill.cli import versions
        from postmill.cli.output import Output

        versions.show(Output(as_json=given.json))
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise CliError("expected a command", "see: postmill --help")


jobs_app = group("Look at jobs and act on them.")
limits_app = group("How many run at once over the whole fleet, and how often they start.")
queues_app = group("Look at queues; pause and resume them; move what waits.")
artifacts_app = group("Files that jobs read or made.")
triggers_app = group("What makes jobs by itself: events and schedules.")
definitions_app = group("The allow-list of job types.")
encryption_app = group("Keys of encrypted payloads.")
workers_app = group("Look at workers; ask them to drain, resume or stop; take back what lost ones held.")

command(
    app,
    "init",
    brief="Write jobs.py with one job, and a commented postmill.toml. Never overwrites a file.",
    panel=START,
    examples=["postmill init", "postmill init shop"],
)("init.init")
command(
    app,
    "up",
    brief="Start database, worker, console, API and /metrics here, and go on until Ctrl-C. The data is kept.",
    panel=START,
    examples=[
        "postmill up jobs.py",
        "postmill up shop.jobs --data /var/lib/shop --port 8710",
        "postmill up jobs.py --dsn postgresql://localhost/shop",
    ],
)("up.up")
command(
    app,
    "worker",
    brief="Run jobs until SIGTERM or Ctrl-C: then finish what runs, give back what waits, and exit with 0.",
    panel=START,
    examples=[
        "postmill worker jobs.py",
        "postmill worker shop.jobs --queues high=20,default=10 --processes 4",
        "postmill worker shop.jobs --port 9100",
    ],
)("worker.worker")
command(
    app,
    "server",
    brief="Serve the HTTP API (under /api/v1), /healthz, /readyz and /metrics until SIGTERM or Ctrl-C.",
    panel=START,
    examples=["postmill server", "postmill server --host 0.0.0.0 --port 8700"],
)("server.server")
command(
    app,
    "upkeep",
    brief="Do the upkeep only: promote due jobs, rescue those of dead workers, prune, make partitions, measure.",
    panel=CARE,
    examples=["postmill upkeep --port 9100"],
)("worker.upkeep")
command(
    app,
    "enqueue",
    brief="Enqueue one job. Prints its id; with --wait its progress (on stderr) and its result.",
    panel=START,
    examples=[
        "postmill enqueue greet name=Ada times=5 --wait",
        "postmill enqueue send_mail to=ada@example.org --delay 10m --key welcome:42",
        "postmill enqueue resize sizes:='[64, 128]' --wait --timeout 30s",
        'echo \'{"name": "Ada"}\' | postmill enqueue greet --payload -',
    ],
)("enqueue.enqueue")

app.add_typer(jobs_app, name="jobs", rich_help_panel=OPERATE)
command(
    jobs_app,
    "list",
    examples=["postmill jobs list --status running", "postmill jobs list --type greet --json"],
)("jobs.list_")
command(jobs_app, "show", examples=["postmill jobs show 0198f3a2-7c11-7abc"])("jobs.show")
command(jobs_app, "why", examples=["postmill jobs why 0198f3a2-7c11-7abc"])("jobs.why")
command(
    app,
    "top",
    brief="Watch queues, workers, running jobs, recent failures and incidents, until q is pressed.",
    panel=OPERATE,
    examples=["postmill top", "postmill top --once --sort oldest"],
)("top.top_")
command(
    app,
    "why",
    brief="Tell why a job does not run: what holds it back, the first reason first. Of an ended one: what became of it.",
    panel=OPERATE,
    examples=["postmill why 0198f3a2-7c11-7abc"],
)("jobs.why")
command(jobs_app, "cancel", examples=["postmill jobs cancel 0198f3a2-7c11-7abc --reason 'wrong customer'"])(
    "jobs_act.cancel"
)
command(jobs_app, "tag", examples=["postmill jobs tag 0198f3a2-7c11-7abc --add vip --remove old"])(
    "jobs_tag.tag"
)
command(jobs_app, "retry", examples=["postmill jobs retry 0198f3a2-7c11-7abc"])("jobs_act.retry")
command(
    jobs_app,
    "prioritize",
    examples=["postmill jobs prioritize 0198f3a2-7c11-7abc --priority 5 --reason 'a customer waits'"],
)("jobs_act.prioritize")
command(
    jobs_app, "register", examples=["postmill jobs register jobs.py", "postmill jobs register shop.jobs"]
)("jobs_act.register")

tree_workflows.grow(app, OPERATE)

app.add_typer(queues_app, name="queues", rich_help_panel=OPERATE)
app.add_typer(limits_app, name="limits", rich_help_panel=OPERATE)
command(limits_app, "list", examples=["postmill limits list", "postmill limits list --json"])("limits.list_")
command(limits_app, "show", examples=["postmill limits show type:screenshot"])("limits.show")
command(
    limits_app,
    "set",
    examples=[
        "postmill limits set type:screenshot --max-running 3",
        "postmill limits set queue:mail/payload.host --max-running 2 --rate 10/1s --reason 'they asked us to'",
        "postmill limits set all/tenant --max-running 50",
        "postmill limits set type:screenshot --off",
    ],
)("limits.set_")
command(limits_app, "clear", examples=["postmill limits clear type:screenshot"])("limits.clear")
command(queues_app, "list", examples=["postmill queues list"])("queues.list_")
command(queues_app, "pause", examples=["postmill queues pause mail --reason 'provider is down' --for 30m"])(
    "queues.pause"
)
command(queues_app, "resume", examples=["postmill queues resume mail"])("queues.resume")
command(
    queues_app,
    "move",
    examples=["postmill queues move send_mail", "postmill queues move send_mail --to bulk"],
)("queues.move")

app.add_typer(dead_app, name="dead", rich_help_panel=OPERATE)
app.add_typer(operations_app, name="operations", rich_help_panel=OPERATE)

tree_incidents.grow(app, OPERATE)

app.add_typer(errors_app, name="errors", rich_help_panel=OPERATE)
command(
    app,
    "stats",
    brief="Show what happened lately: how many jobs were made and ended, how long they waited and ran.",
    panel=OPERATE,
    examples=[
        "postmill stats",
        "postmill stats --since 24h --by type",
        "postmill stats --tenant bakery --json",
    ],
)("stats.stats")

command(
    app,
    "scaling",
    brief="Show how many workers each queue needs, by what arrives, what waits and how long jobs run.",
    panel=OPERATE,
    examples=[
        "postmill scaling",
        "postmill scaling high --slots 20 --drain 1m --max 30",
        "postmill scaling high --json",
    ],
)("scaling.scaling")

app.add_typer(artifacts_app, name="artifacts", rich_help_panel=OPERATE)
command(
    artifacts_app, "list", examples=["postmill artifacts list 0198f3a2-7c11-7abc", "postmill artifacts list"]
)("artifacts.list_")
command(
    artifacts_app,
    "get",
    examples=[
        "postmill artifacts get 0198f3a2-7c11-7abc-8def-0123456789ab",
        "postmill artifacts get 0198f3a2-7c11-7abc-8def-0123456789ab --output - | head",
    ],
)("artifacts.get")
command(
    artifacts_app,
    "put",
    examples=[
        "postmill artifacts put availability.csv --tenant bakery --for 7d",
        "pg_dump shop | postmill artifacts put - --name shop.sql",
    ],
)("artifacts_act.put")
command(
    artifacts_app,
    "delete",
    examples=["postmill artifacts delete 0198f3a2-7c11-7abc-8def-0123456789ab --reason 'wrong file'"],
)("artifacts_act.delete")
command(
    artifacts_app,
    "verify",
    examples=[
        "postmill artifacts verify 0198f3a2-7c11-7abc-8def-0123456789ab",
        "postmill artifacts verify --job 0198f3a2-7c11-7abc",
    ],
)("artifacts.verify")

app.add_typer(triggers_app, name="triggers", rich_help_panel=OPERATE)
command(
    triggers_app,
    "list",
    examples=["postmill triggers list", "postmill triggers list --type schedule --json"],
)("triggers.list_")
command(triggers_app, "show", examples=["postmill triggers show nightly", "postmill triggers show 0198f3a2"])(
    "triggers.show"
)
command(triggers_app, "next", examples=["postmill triggers next nightly --count 20"])("triggers.next_")
command(triggers_app, "enable", examples=["postmill triggers enable nightly"])("triggers_act.enable")
command(triggers_app, "disable", examples=["postmill triggers disable nightly"])("triggers_act.disable")
command(
    triggers_app,
    "run",
    examples=["postmill triggers run nightly", "postmill triggers run resync folder_path=/invoices"],
)("triggers_act.run_")
command(
    triggers_app,
    "backfill",
    examples=[
        "postmill triggers backfill nightly --since 2026-11-20T00:00Z --until 2026-11-28T00:00Z --dry-run",
        "postmill triggers backfill nightly --since 2026-11-20T00:00Z --until 2026-11-28T00:00Z --reason 'a flood'",
    ],
)("triggers_backfill.backfill")
command(
    app,
    "publish",
    brief="Publish an event: the triggers that wait for it make their jobs.",
    panel=OPERATE,
    examples=[
        "postmill publish provider.folder.updated provider_id=42 folder_path=/invoices",
        "postmill publish order.paid total:=99.5 --correlation-id order-4711",
    ],
)("publish.publish")

app.add_typer(definitions_app, name="definitions", rich_help_panel=OPERATE)
command(
    definitions_app,
    "list",
    examples=["postmill definitions list", "postmill definitions list --kind command"],
)("definitions.list_")
command(definitions_app, "show", examples=["postmill definitions show sync-dropbox --versions"])(
    "definitions.show"
)
command(
    definitions_app,
    "create",
    examples=[
        """postmill definitions create sync-dropbox argv_template:='["zoltag", "sync-dropbox"]'""",
        "postmill definitions create sync-dropbox --from sync-dropbox.json queue=sync",
    ],
)("definitions.create")
command(
    definitions_app,
    "edit",
    examples=[
        "postmill definitions edit sync-dropbox max_attempts=5 timeout_seconds=600",
        "postmill definitions edit sync-dropbox is_active=false",
        "postmill definitions edit send_mail --release queue",
    ],
)("definitions.edit")
add_pauses(definitions_app)

app.add_typer(encryption_app, name="encryption", rich_help_panel=CARE)
command(encryption_app, "new-key", examples=["postmill encryption new-key 2031-05"])("encryption.new_key")
command(encryption_app, "rotate", examples=["postmill encryption rotate"])("encryption.rotate")

tree_archive.grow(app, CARE)

app.add_typer(workers_app, name="workers", rich_help_panel=OPERATE)
command(workers_app, "list", examples=["postmill workers list --all"])("workers.list_")
command(workers_app, "show", examples=["postmill workers show web-1"])("workers_act.show")
command(workers_app, "drain", examples=["postmill workers drain web-1 --reason 'host goes down'"])(
    "workers_act.drain"
)
command(workers_app, "resume", examples=["postmill workers resume web-1"])("workers_act.resume")
command(workers_app, "stop", examples=["postmill workers stop web-1"])("workers_act.stop")
command(workers_app, "rescue", examples=["postmill workers rescue web-1 --yes"])("workers_act.rescue")

tree_budget.grow(app, OPERATE)

tree_access.grow(app, ACCESS)

command(
    app,
    "migrate",
    brief="Make or update the schema. Safe to run at any time, by any number of processes at once.",
    panel=CARE,
    examples=["postmill migrate", "postmill migrate --check", "postmill migrate --sql > schema.sql"],
)("migrate.migrate_schema")
command(
    app,
    "doctor",
    brief="Look at server, schema, workers and jobs: each line ok, warn or fail, and what to do.",
    panel=CARE,
    examples=[
        "postmill doctor",
        "postmill doctor --json --strict",
        "postmill doctor --only workers --strict",
    ],
)("doctor.doctor")
command(
    app,
    "dashboards",
    brief="Print or write the Grafana dashboard, and Prometheus' alert and recording rules. Needs no database.",
    panel=CARE,
    examples=["postmill dashboards grafana > postmill.json", "postmill dashboards --output monitoring"],
)("dashboards.dashboards")
command(
    app,
    "bench",
    brief="Measure one case, beside the same SQL driven bare. Starts a server of its own unless --dsn names one.",
    panel=CARE,
    passes_options=True,
    examples=["postmill bench throughput --json", "postmill bench latency --jobs 2000"],
)("bench.bench")
command(
    app,
    "settings",
    brief="Print the settings in force and their sources. Secrets are hidden, databases shown without password.",
    panel=CARE,
    examples=["postmill settings --set"],
)("settings.settings")
command(
    app,
    "openapi",
    brief="Print the OpenAPI document of the HTTP API (3.1, JSON). Needs neither a database nor settings.",
    panel=CARE,
    examples=["postmill openapi > openapi.json"],
)("openapi.show_openapi")
command(
    app,
    "version",
    brief="Versions of Postmill, its schema, Python, psycopg and libpq.",
    panel=CARE,
    examples=["postmill version", "postmill --version"],
)("version.show_version")
