"""`postmill definitions` and `postmill encryption`, and what `jobs show` leaves unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from postmill.cli.definition_fields import SCHEMA
from postmill.cli.plan import make_plan
from postmill.domain.definition import FIELDS
from postmill.domain.encryption import KeyRing
from postmill.domain.errors import UnknownQueue
from postmill.domain.settings import Settings
from tests.cli.support import cli

COMMAND = """argv_template:=["zoltag", "sync", ["--path", "{payload.path}"]]"""


def test_made_listed_shown_and_edited(dsn: str, tmp_path: Path) -> None:
    schema = tmp_path / "sync.json"
    schema.write_text(
        json.dumps({"arg_schema": {"properties": {"path": {"type": "string"}}}, "queue": "sync"})
    )
    made = cli("definitions", "create", "sync", COMMAND, "--from", str(schema), "max_attempts=2", dsn=dsn)
    assert (made.code, made.out) == (0, "created sync, version 1, queue sync\n")
    listed = cli("definitions", "list", "--kind", "command", "--json", dsn=dsn).json["definitions"]
    assert [(one["key"], one["drift"], one["max_attempts"]) for one in listed] == [("sync", ["unserved"], 2)]
    assert "unserved" in cli("definitions", "list", dsn=dsn).out
    edited = cli("definitions", "edit", "sync", "is_active=false", "env_allow=TOKEN_FILE", dsn=dsn)
    assert edited.out == "changed sync, version 2, queue sync\n"
    assert cli("definitions", "edit", "sync", "is_active=false", dsn=dsn).out.startswith("unchanged sync")
    page = cli("definitions", "show", "sync", "--versions", dsn=dsn).out
    for part in (
        "sync (off)",
        "command, version 2",
        '["zoltag", "sync", ["--path", "{payload.path}"]]',
        "TOKEN_FILE",
        "nobody",
    ):
        assert part in page
    shown = cli("definitions", "show", "sync", "--versions", "--json", dsn=dsn).json
    assert [(v["version"], v["via"]) for v in shown["versions"]] == [(2, "cli"), (1, "cli")]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("create", "a", "quue=x"), 2, "did you mean"),
        (("create", "a", 'argv_template:=["{tenant_id}"]'), 2, "argv_template[0]: the program is fixed text"),
        (("create", "a", "--from", "/nowhere"), 2, "--from cannot be read"),
        (("show", "nothing"), 5, "there is no job definition 'nothing'"),
        (("edit", "nothing", "priority=1"), 5, "there is no job definition 'nothing'"),
        (("create", "taken"), 1, "is the key or an alias of another definition"),
        (("edit", "taken", "priority=1", "--version", "9"), 1, "has version 1 by now"),
    ],
)
def test_refusals(dsn: str, words: tuple[str, ...], code: int, said: str) -> None:
    assert cli("definitions", "create", "taken", dsn=dsn).code == 0
    answer = cli("definitions", *words, dsn=dsn)
    assert (answer.code, said in answer.err) == (code, True), answer.err


def test_every_field_can_be_written() -> None:
    assert {"key", *SCHEMA["properties"]} == set(FIELDS)


def test_the_template_of_the_settings(dsn: str) -> None:
    env = {"POSTMILL_COMMANDS__ARGV_TEMPLATE": '["zoltag", "{key}", "--tenant-id", "{tenant_id}"]'}
    assert cli("definitions", "create", "sync-dropbox", dsn=dsn, env=env).code == 0
    shown = cli("definitions", "show", "sync-dropbox", "--json", dsn=dsn).json["definition"]
    assert shown["argv_template"] == ["zoltag", "sync-dropbox", "--tenant-id", "{tenant_id}"]


def test_keys_and_their_rotation(dsn: str, pg: Connection[Any]) -> None:
    entries = [cli("encryption", "new-key", name).out.strip() for name in ("new", "old")]
    ring = KeyRing.of(entries)
    assert ring.current == "new"
    assert cli("encryption", "rotate", dsn=dsn).code == 2
    old = {"POSTMILL_ENCRYPTION__KEYS": json.dumps(entries[1:])}
    both = {"POSTMILL_ENCRYPTION__KEYS": ",".join(entries)}
    from postmill.client.ruling import key_ring

    key_ring.cache_clear()
    cli(
        "definitions",
        "create",
        "pay",
        "kind=http",
        "queue=web",
        "encrypted=true",
        "secret_keys=iban",
        dsn=dsn,
    )
    made = cli("enqueue", "pay", "iban=DE02", "note=hello", "--json", dsn=dsn, env=old)
    key_ring.cache_clear()
    assert made.code == 0, made.err
    id = made.json["id"]
    done = cli("encryption", "rotate", "--json", dsn=dsn, env=both)
    assert done.json == {"key": "new", "resealed": 1, "unopened": 0}
    row = pg.execute("select payload::text from postmill.job").fetchone()
    assert row is not None
    assert "hello" not in row[0]
    for env, payload in (
        (both, {"iban": "[redacted]", "note": "hello"}),
        ({}, {"$encrypted": {"key": "new"}}),
    ):
        assert cli("jobs", "show", id, "--json", dsn=dsn, env=env).json["job"]["payload"] == payload
    lost = cli("encryption", "new-key", "lost").out.strip()
    failed = cli("encryption", "rotate", dsn=dsn, env={"POSTMILL_ENCRYPTION__KEYS": lost})
    assert (failed.code, "1 payloads were not opened" in failed.err) == (1, True)


def test_queues_of_stored_commands_are_shared_out_over_processes() -> None:
    settings = Settings.model_validate(
        {"queues": {"sync": {"slots": 4, "priority": 7}, "none": {"slots": 0}}}
    )
    plan = make_plan([], [], 3, settings)
    assert plan.slots == {"default": 10}
    made = [plan.adopted(n, "sync") for n in range(3)]
    assert sorted(queue.slots for queue in made if queue is not None) == [1, 1, 2]
    assert {queue.priority for queue in made if queue is not None} == {7}
    assert plan.adopted(0, "none") is None
    assert plan.config(0).adopt is not None
    named = make_plan([], ["sync=2"], 1, settings, lambda: {"sync": True})
    assert (named.slots, named.config(0).adopt) == ({"sync": 2}, None)
    with pytest.raises(UnknownQueue):
        make_plan([], ["nothing"], 1, settings, lambda: {"sync": True})
