"""What a process must not load that does not need it: it is waited for at each start.

One process goes the way from the smallest to the largest; what was loaded so far is looked at behind each step.
"""

import json
import subprocess
import sys

from postmill.cli.help_page import paragraphs
from tests.cli.commands import tree

SERVER = {
    "fastapi",
    "starlette",
    "uvicorn",
    "jinja2",
    "yaml",
    "httpx",
    "fsspec",
    "pyarrow",
    "cryptography",
    "postmill.api",
}
"""What a worker does without, unless its jobs or settings want it."""

WORKER = {*SERVER, "structlog", "prometheus_client", "opentelemetry", "uvloop", "postmill.engine.worker"}
"""What a command does without that only tells something."""

DATABASE = {
    "psycopg",
    "psycopg_pool",
    "asyncio",
    "postmill.client",
    "postmill.operate",
    "postmill.domain.settings",
}

STEPS = (
    ("a child that runs one job", "import postmill.engine.child", {*WORKER, *DATABASE, "typer", "rich"}),
    (
        "annotations and small parts",
        "from postmill.typing import JobTypeOptions; import postmill.text, postmill.retrying, postmill.local",
        {*WORKER, *DATABASE, "postmill.engine.budgets", "postmill.local.up"},
    ),
    ("postmill --help", "command('--help')", {*WORKER, *DATABASE}),
    ("postmill --version", "command('--version')", {*WORKER, *DATABASE} - {"psycopg", "asyncio"}),
    (
        "a child whose job has a context",
        "from postmill import Context; Context",
        {*WORKER, "postmill.operate", "postmill.domain.settings"},
    ),
    ("postmill jobs list", "command('jobs', 'list', '--help')", WORKER),
    ("postmill worker", "import postmill.cli.commands.worker, postmill.cli.working", SERVER),
)  # fmt: skip

PROGRAM = """
import contextlib, io, json, sys
from postmill.cli.main import main

def command(*words):
    sys.argv = ["postmill", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()

for step in json.loads(sys.argv[1]):
    exec(step)
    print(json.dumps([*sys.modules]))
"""


def test_nobody_loads_what_he_does_not_need():
    steps = json.dumps([step for _, step, _ in STEPS])
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, steps], capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    found = {
        name: sorted(without & set(json.loads(loaded)))
        for (name, _, without), loaded in zip(STEPS, told, strict=True)
    }
    assert found == {name: [] for name, _, _ in STEPS}


def test_a_brief_line_is_the_first_of_the_help():
    commands = [command for _, command in tree() if getattr(command, "commands", None) is None]
    briefs = {command.name: command.short_help for command in commands if command.short_help}
    assert briefs == {
        one.name: paragraphs(one.help)[0] for one in commands if one.name in briefs and one.short_help
    }
    at_the_top = {
        path[0] for path, one in tree() if len(path) == 1 and getattr(one, "commands", None) is None
    }
    assert at_the_top == set(briefs), "they are all listed by postmill --help, which shall import none"
