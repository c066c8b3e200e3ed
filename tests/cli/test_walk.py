"""Every command with what people get wrong: one clear form of error, the documented exit code, no traceback."""

import os
import subprocess
import sys

import pytest

from tests.cli.commands import commands, tree
from tests.cli.support import cli
from tests.support.spawner import spawner

ID = "01980000-0000-7000-8000-000000000000"

WORDS = {
    "enqueue": ["greet", "name=Ada"],
    "publish": ["order.paid"],
    "login": [],
    "migrate": ["--check"],
    "doctor": [],
    "jobs list": [],
    "jobs show": [ID],
    "jobs why": [ID],
    "why": [ID],
    "top": ["--once"],
    "jobs cancel": [ID],
    "jobs retry": [ID],
    "jobs register": ["jobs.py"],
    "jobs tag": [ID, "--add", "late"],
    "jobs prioritize": [ID, "--priority", "5"],
    "workflows list": [],
    "workflows show": [ID],
    "workflows cancel": [ID],
    "workflows retry": [ID],
    "workflows release": [ID],
    "scaling": [],
    "limits list": [],
    "limits show": ["queue:default"],
    "limits set": ["queue:default", "--max-running", "3"],
    "limits clear": ["queue:default"],
    "queues list": [],
    "queues pause": ["default"],
    "queues resume": ["default"],
    "queues move": ["greet"],
    "errors list": [],
    "errors show": ["0" * 16],
    "errors ignore": ["0" * 16],
    "errors resolve": ["0" * 16, "--version", "41"],
    "errors reopen": ["0" * 16],
    "errors note": ["0" * 16, "seen"],
    "errors notes": ["0" * 16],
    "errors tenants": ["0" * 16],
    "stats": [],
    "dead list": [],
    "dead show": [ID],
    "dead replay": [ID],
    "dead discard": [ID],
    "dead stats": [],
    "dead edit": [ID, "name=Ada"],
    "dead rules": [],
    "operations list": [],
    "operations show": [ID],
    "operations pause": [ID],
    "operations resume": [ID],
    "operations abort": [ID],
    "operations approve": [ID],
    "operations start": ["replay", "--query", "type:greet"],
    "incidents list": [],
    "incidents show": [ID],
    "incidents ack": [ID],
    "incidents resolve": [ID],
    "channels list": [],
    "artifacts list": [],
    "artifacts get": [ID],
    "artifacts put": ["jobs.py"],
    "artifacts delete": [ID],
    "artifacts verify": [ID],
    "triggers list": [],
    "triggers show": ["nightly"],
    "triggers next": ["nightly"],
    "triggers enable": ["nightly"],
    "triggers disable": ["nightly"],
    "triggers run": ["nightly"],
    "triggers backfill": ["nightly", "--since", "2026-01-01T00:00Z", "--until", "2026-01-02T00:00Z"],
    "definitions list": [],
    "definitions show": ["greet"],
    "definitions create": ["sync", "kind=http"],
    "definitions edit": ["greet", "priority=3"],
    "definitions pause": ["greet"],
    "definitions paused": [],
    "definitions resume": ["greet"],
    "encryption rotate": [],
    "retention list": [],
    "retention set": ["failed", "90d"],
    "retention unset": ["failed"],
    "archive list": [],
    "archive show": [ID],
    "archive read": [],
    "archive verify": [],
    "archive on": [],
    "archive off": [],
    "workers list": [],
    "workers show": [ID],
    "workers drain": [ID],
    "workers resume": [ID],
    "workers stop": [ID],
    "workers rescue": [ID],
    "budget list": [],
    "budget show": ["ai"],
    "budget set": ["ai", "--limit", "5"],
    "budget history": ["ai"],
    "budget lines": ["ai"],
    "budget ask": ["ai", "--limit", "9", "--reason", "more"],
    "budget requests": [],
    "budget grant": [ID],
    "budget decline": [ID, "--answer", "no"],
    "budget correct": ["ai", "1", "--reason", "invoice"],
    "tenants list": [],
    "tenants show": ["bakery"],
    "tenants create": ["bakery"],
    "tenants set": ["bakery"],
    "tenants projects": ["bakery"],
    "tenants create-project": ["bakery", "cakes"],
    "keys list": [],
    "keys create": ["import", "--role", "operator"],
    "keys revoke": [ID],
    "logins list": [],
    "logins end": [ID],
    "audit list": [],
    "audit export": [],
    "audit verify": [],
}
"""What each command that asks the database needs beside its name."""

WITHOUT_DATABASE = {
    "init", "dashboards", "settings", "openapi", "version", "encryption new-key", "bench", "channels test",
}  # fmt: skip

CELLS = {
    "tenants move", "cells list", "cells each", "cells tenants", "cells where", "cells place", "cells moves",
    "cells show", "cells resume", "cells abort",
}  # fmt: skip
"""They ask for settings with cells first (tests/cells)."""

WAITING = {"up", "worker", "server", "upkeep"}
"""They wait for a database, or bring their own: `test_worker_start` and `test_up_faults`."""

SETTINGS = {
    "POSTMILL_ENCRYPTION__KEYS": "one:" + "A" * 43 + "=",
    "POSTMILL_ARTIFACTS__URL": "file:///nowhere/artifacts",
}


def call(name, *more, **given):
    return cli(*name.split(), *WORDS.get(name, []), *more, env=SETTINGS, **given)


def one_form(answer, code):
    """`error: what`, then `  → what to do`, on stderr only; with the exit code that the reference has."""
    assert answer.code == code, answer.err
    lines = answer.err.splitlines()
    assert lines[0].startswith("error: "), answer.err
    assert all(line.startswith("  → ") for line in lines[1:]), answer.err
    assert answer.out == "" or answer.json["error"]["code"] == code
    for word in ("Traceback", "defect of Postmill", "Value error", "pydantic"):
        assert word not in answer.err


@pytest.fixture
def database(emptied):
    return emptied


@pytest.fixture
def folder(here):
    (here / "jobs.py").write_text("from postmill import job\n\n@job\ndef greet(name: str) -> None: ...\n")
    return here


def test_the_table_has_every_command():
    assert {" ".join(path) for path in commands()} == set(WORDS) | WITHOUT_DATABASE | CELLS | WAITING


def test_an_unreachable_database(folder):
    for name in WORDS.keys() - {"doctor"}:
        told = call(name, "--json", dsn="postgresql://me:geheim@127.0.0.1:1/shop")
        one_form(told, 3)
        assert told.json["error"]["message"] in told.err
        assert "geheim" not in told.out + told.err
    assert call("doctor", dsn="postgresql://127.0.0.1:1/shop").code in (1, 3)


def test_a_database_that_was_not_migrated(folder, dsn):
    for name in WORDS.keys() - {"doctor", "migrate"}:
        one_form(call(name, "--schema", "not_there", dsn=dsn), 4)
    assert call("migrate", "--schema", "not_there", dsn=dsn).code == 4
    assert call("doctor", "--schema", "not_there", dsn=dsn).code in (1, 4)


def test_bytes_that_are_no_text(folder):
    for path in commands():
        one_form(call(" ".join(path), "--schema", "\udcff"), 2)
    for words in (["enqueue", "greet", "name=\udcff"], ["jobs", "show", "\udcff"], ["\udcff"], ["--\udcff"]):
        one_form(cli(*words), 2)


def test_an_option_that_there_is_not(folder):
    for path, command in tree():
        if path:
            answer = cli(*path, "--shcema", "x")
            one_form(answer, 2)
            if getattr(command, "commands", None) is None and path not in (("bench",), ("cells", "each")):
                assert "did you mean --schema?" in answer.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["jobs", "list", "--status", "runing"], 2, "not 'runing'; did you mean running?"),
        (["jobs", "list", "--limit", "x"], 2, "--limit takes a whole number, not 'x'"),
        (["jobs", "list", "--limit", "0"], 2, "--limit takes 1 or more, not '0'"),
        (["jobs", "list", "--limit"], 2, "--limit needs a value"),
        (["jobs", "list", "--tenant", "nobody"], 5, "there is no tenant 'nobody'"),
        (["jobs", "list", "--before", "x"], 2, "'x' is no job id"),
        (["jobs", "list", "--queue", "nowhere"], 5, "nowhere"),
        (["jobs", "show"], 2, "missing ID; write: postmill jobs show ID [OPTIONS]"),
        (["jobs", "show", ID], 5, "no job"),
        (["jobs", "show", ID, ID], 2, "unexpected extra argument"),
        (["jobs", "lst"], 2, "there is no command `postmill jobs lst`; did you mean 'list'?"),
        (["enqeue"], 2, "did you mean 'enqueue'?"),
        (["enqueue", "nothing"], 5, "nothing"),
        (["enqueue", "greet", "--tenant", "nobody"], 5, "there is no tenant 'nobody'"),
        (["enqueue", "greet", "--project", "x"], 2, "--project takes a UUID"),
        (["dead", "list", "--tenant", "nobody"], 5, "there is no tenant 'nobody'"),
        (["publish", "order.paid", '{"a": 1}'], 2, "all at once it goes by: --context '{\"a\": 1}'"),
        (["triggers", "list", "--type", "x"], 2, "--type takes one of event, schedule, not 'x'"),
        (["definitions", "edit", "greet", "priority=x"], 2, "takes an integer, not 'x'"),
        (["definitions", "edit", "greet", "{}"], 2, "all at once it goes by: --from FILE"),
        (["keys", "create", "x", "--role", "oprator"], 2, "did you mean operator?"),
        (["keys", "create", "x"], 2, "missing --role ROLE"),
        (["logins", "end", "x"], 2, "ID takes a UUID"),
        (["audit", "export", "--patience", "x"], 2, "--patience takes a number, not 'x'"),
        (["audit", "verify", "--anchor", "x"], 2, "'x' is no anchor"),
        (["bench", "throughputt"], 2, "did you mean 'throughput'?"),
        (["bench", "throughput", "--jobs", "x"], 2, "jobs is a whole number, not 'x'"),
        (["encryption", "new-key", "!"], 2, "expected a name of 1 to 64 letters"),
        (["init", "/proc/nowhere"], 1, "/proc/nowhere: "),
        (["server", "--port", "70000"], 2, "--port takes 65535 or less, not '70000'"),
        (["worker", "jobs.py", "--queues", "x=y"], 2, "slots are a whole number"),
        (["--config", "nowhere.toml", "jobs", "list"], 2, "there is no settings file nowhere.toml"),
        (["--json"], 2, "expected a command"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_a_wrong_value(folder, dsn, stage, words, code, said):
    stage.register("greet")
    answer = cli(*words, dsn=dsn)
    assert said in " ".join(answer.err.split())
    one_form(answer, code)


def test_lists_are_json_where_asked_for(folder, dsn):
    for name in ("settings", "version", "bench", *(name for name in WORDS if name.endswith(" list"))):
        assert call(name, "--json", dsn=dsn).json is not None, name
    assert cli("--version").out == cli("version").out
    assert cli("--version", "--json").json == cli("version", "--json").json


def test_a_reader_that_has_gone(folder, dsn, five):
    """As `| head -1` does it, before the first byte and with all of them in the buffer."""
    lines = ("--help", "jobs --help", "jobs list", "jobs list --json", "settings", "audit export")
    calls = [line.split() for line in (*lines, "migrate --sql")]
    environment = {**os.environ, "POSTMILL_DATABASE_URL": dsn}
    for words in calls:
        reading, writing = os.pipe()
        os.close(reading)
        with open(folder / "said", "wb") as said:
            process = spawner().fork(
                ["postmill", *words], folder, environment, (None, writing, said.fileno())
            )
        os.close(writing)
        assert (process.wait(), (folder / "said").read_text()) == (0, ""), words


def test_a_stdout_that_is_closed(folder):
    said = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m postmill version >&- 2>said"],
        cwd=folder,
        check=False,
        timeout=60,
    )
    assert (said.returncode, (folder / "said").read_text()) == (0, "")
