"""Stored commands end to end: a key and a checked payload become an exact argv, and its end the job's (seed 3, case 105)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from postmill import NewJob, aenqueue, job
from postmill.bind import adrive
from postmill.domain.errors import DefinitionError, PayloadRefused
from postmill.engine.work import QueueSlots
from postmill.operate import definitions
from tests.support.databases import Database
from tests.support.programs import Programs, define
from tests.support.workers import state, until, working

Conn = AsyncConnection[Any]

TENANT = UUID("1efe049f-ae71-4226-97be-236b4df4a93a")
PROVIDER = "6f46a1d8-6e2b-4ecf-8b46-9ec2e6a37f09"

# Seed 3, command execution model and API contract.
ZOLTAG = ["zoltag", "{key}", "--tenant-id", "{tenant_id}"]
SYNC: dict[str, Any] = {
    "description": "Sync provider updates for tenant",
    "arg_schema": {
        "type": "object",
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string"},
        },
        "required": ["provider_id"],
        "additionalProperties": False,
    },
    "timeout_seconds": 3600,
    "max_attempts": 3,
}
AT_ONCE = {"kind": "constant", "delay": 0}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    return Programs(tmp_path, monkeypatch)


async def run_of(conn: Conn, id: UUID) -> Mapping[str, Any]:
    """The last execution of an ended job."""
    cursor = await conn.execute(
        """select to_jsonb(a) from postmill.job_attempts a where a.job_id = %s order by attempt_no desc limit 1""",
        [id],
    )
    row = await cursor.fetchone()
    assert row is not None
    found: dict[str, Any] = row[0]
    return found


async def enqueue(conn: Conn, key: str, payload: Mapping[str, object] | None = None, **options: Any) -> UUID:
    return (await aenqueue(conn, NewJob.of(key, payload or {}, **options))).id


async def ended(conn: Conn, id: UUID, *expected: str) -> Mapping[str, Any]:
    async def there() -> bool:
        return await state(conn, id) in expected

    await until(there)
    return await run_of(conn, id)


async def test_the_seeds_keys(database: Database, apg: Conn, programs: Programs) -> None:
    """`sync-dropbox` → `zoltag sync-dropbox --tenant-id <uuid>`, and so for the other three."""
    programs.make("zoltag", "print('synced'); print('warned', file=sys.stderr)")
    keys = ["sync-dropbox", "recompute-trained-tags", "recompute-zeroshot-tags", "train-keyword-models"]
    for key in keys:
        fields = SYNC if key == "sync-dropbox" else {}
        await adrive(apg, definitions.create({"key": key, **fields}, default_argv=ZOLTAG))
    async with working(database.dsn):
        for key in keys:
            payload = {"provider_id": PROVIDER} if key == "sync-dropbox" else {}
            id = await enqueue(apg, key, payload, tenant=TENANT)
            run = await ended(apg, id, "succeeded")
            assert (run["status"], run["exit_code"], run["stdout_tail"], run["stderr_tail"]) == (
                "succeeded", 0, "synced\n", "warned\n"
            )  # fmt: skip
            assert run["pid"] > 0
    assert programs.calls("zoltag") == [[key, "--tenant-id", str(TENANT)] for key in keys]


async def test_options_come_and_go_with_their_values(
    database: Database, apg: Conn, programs: Programs
) -> None:
    programs.make("zoltag")
    template = [
        "zoltag",
        "sync",
        "--id",
        "{payload.provider_id}",
        ["--path", "{payload.path_prefix}"],
        "{job_id}",
    ]
    await define(apg, "sync", argv_template=template, **SYNC)
    async with working(database.dsn):
        with_path = await enqueue(apg, "sync", {"provider_id": PROVIDER, "path_prefix": "/a b; $(c)"})
        await ended(apg, with_path, "succeeded")
        without = await enqueue(apg, "sync", {"provider_id": PROVIDER})
        await ended(apg, without, "succeeded")
    assert programs.calls("zoltag") == [
        ["sync", "--id", PROVIDER, "--path", "/a b; $(c)", str(with_path)],
        ["sync", "--id", PROVIDER, str(without)],
    ]


async def test_what_a_command_finds_around_it(
    database: Database, apg: Conn, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment of allowed names and its own facts, and a working folder that is gone afterwards."""
    monkeypatch.setenv("MODEL_HOST", "models.example")
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    programs.make(
        "look",
        "open('left', 'w').close(); print(json.dumps([dict(os.environ), os.getcwd(), sys.stdin.read()]))",
    )
    await define(apg, "look", argv_template=["look"], env_allow=["MODEL_HOST"])
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with working(database.dsn):
        id = await enqueue(apg, "look", tenant=TENANT, traceparent=trace, correlation_id="c-1")
        run = await ended(apg, id, "succeeded")
    env, folder, stdin = json.loads(run["stdout_tail"])
    assert env["MODEL_HOST"] == "models.example"
    assert "DATABASE_PASSWORD" not in env
    assert {name: env[name] for name in env if name.startswith("POSTMILL_") or name == "TRACEPARENT"} == {
        "POSTMILL_JOB_ID": str(id), "POSTMILL_JOB_TYPE": "look", "POSTMILL_TENANT_ID": str(TENANT),
        "POSTMILL_ATTEMPT": "1", "POSTMILL_CORRELATION_ID": "c-1", "TRACEPARENT": trace,
    }  # fmt: skip
    assert folder.startswith(tempfile.gettempdir())
    assert not Path(folder).exists()
    assert stdin == ""


async def test_a_bad_exit_is_tried_again_and_then_buried(
    database: Database, apg: Conn, programs: Programs
) -> None:
    programs.make("fail", "print('half'); print('first line\\nno such bucket', file=sys.stderr); sys.exit(3)")
    await define(apg, "fail", argv_template=["fail"], max_attempts=2, retry=AT_ONCE)
    async with working(database.dsn):
        id = await enqueue(apg, "fail")
        run = await ended(apg, id, "dead_letter")
    assert (run["attempt_no"], run["status"], run["exit_code"], run["stdout_tail"]) == (
        2,
        "failed",
        3,
        "half\n",
    )
    cursor = await apg.execute(
        "select reason, error_class, error_code, error_message from postmill.dead_letter"
    )
    assert await cursor.fetchone() == (
        "max_retries_exceeded", "postmill.engine.commands.CommandFailed", "EXIT_3",
        "fail ended with exit code 3: no such bucket",
    )  # fmt: skip


async def test_secrets_of_payload_and_environment_are_in_no_tail_and_no_error(
    database: Database, apg: Conn, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROPBOX_TOKEN", "plugh-43")
    monkeypatch.setenv("MODEL_HOST", "models")
    programs.make(
        "leak",
        "print('using', sys.argv[1]); print('bad', sys.argv[1], os.environ['DROPBOX_TOKEN'],"
        " os.environ['MODEL_HOST'], file=sys.stderr); sys.exit(1)",
    )
    schema = {"type": "object", "properties": {"api_key": {"type": "string"}}, "required": ["api_key"]}
    inherits = ["DROPBOX_TOKEN", "MODEL_HOST", "NOT_SET_SECRET"]
    fields = {"argv_template": ["leak", "{payload.api_key}"], "arg_schema": schema, "env_allow": inherits}
    await define(apg, "leak", max_attempts=1, **fields)
    async with working(database.dsn):
        run = await ended(apg, await enqueue(apg, "leak", {"api_key": "xyzzy-42"}), "dead_letter")
    assert run["stdout_tail"] == "using [redacted]\n"
    assert run["stderr_tail"] == "bad [redacted] [redacted] models\n"
    assert "xyzzy" not in str(run)
    assert "plugh" not in str(run)


async def test_a_timeout_stops_the_group(database: Database, apg: Conn, programs: Programs) -> None:
    programs.make(
        "hang",
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(60)",
    )
    await define(apg, "hang", argv_template=["hang"], timeout_seconds=1, max_attempts=1)
    async with working(database.dsn, grace=0.2):
        run = await ended(apg, await enqueue(apg, "hang"), "dead_letter")
    assert (run["status"], run["exit_code"], run["stdout_tail"]) == ("timeout", None, "on\n")


async def test_a_running_command_is_canceled(database: Database, apg: Conn, programs: Programs) -> None:
    programs.make("hang", "import time; print(os.getpid(), flush=True); time.sleep(60)")
    await define(apg, "hang", argv_template=["hang"])
    async with working(database.dsn):
        id = await enqueue(apg, "hang")
        await until(lambda: programs.calls("hang"))
        await apg.execute("select postmill.cancel_jobs(array[%s], p_reason => 'enough')", [id])
        run = await ended(apg, id, "canceled")
    assert run["status"] == "canceled"
    with pytest.raises(ProcessLookupError):
        os.kill(run["pid"], 0)


async def test_a_drain_gives_it_back(database: Database, apg: Conn, programs: Programs) -> None:
    programs.make("hang", "import time; time.sleep(60)")
    await define(apg, "hang", argv_template=["hang"])
    async with working(database.dsn, grace=0.1):
        id = await enqueue(apg, "hang")
        await until(lambda: programs.calls("hang"))
    assert await state(apg, id) == "queued"


@pytest.mark.parametrize(
    ("payload", "where"),
    [
        ({}, '#: "provider_id" is a required property'),
        ({"provider_id": "x"}, "#/provider_id: "),
        ({"provider_id": PROVIDER, "path_prefix": "--output=/etc/x"}, "#/path_prefix: begins with '-'"),
        (
            {"provider_id": PROVIDER, "path_prefix": "x" * 140_000},
            "#/path_prefix: has more than 131071 bytes",
        ),
        ({"provider_id": PROVIDER, "other": 1}, "#: Additional properties"),
        ({"$encrypted": {"key": "k"}}, "#/$encrypted: is a name that Postmill keeps"),
    ],
)
async def test_what_it_must_not_get_is_refused_before_the_insert(
    apg: Conn, payload: dict[str, Any], where: str
) -> None:
    template = ["zoltag", "{payload.provider_id}", ["--path", "{payload.path_prefix}"]]
    await define(apg, "sync", argv_template=template, aliases=["old-sync"], **SYNC)
    for name in ("sync", "old-sync"):
        with pytest.raises(PayloadRefused) as refused:
            await enqueue(apg, name, payload)
        assert str(refused.value).startswith(where)
    cursor = await apg.execute("select count(*) from postmill.job")
    assert await cursor.fetchone() == (0,)


async def test_what_plain_sql_put_in_is_looked_at_before_it_runs(
    database: Database, apg: Conn, programs: Programs
) -> None:
    programs.make("zoltag")
    await define(
        apg, "sync", argv_template=["zoltag", "{payload.provider_id}", ["{payload.path_prefix}"]], **SYNC
    )
    bad = [
        '{"provider_id": 1}',
        f'{{"provider_id": "{PROVIDER}", "path_prefix": "-rf"}}',
        '{"$encrypted": 1}',
    ]
    ids = []
    for payload in bad:
        cursor = await apg.execute("select postmill.enqueue('sync', %s::jsonb)", [payload])
        row = await cursor.fetchone()
        assert row is not None
        ids.append(row[0])
    async with working(database.dsn):
        for id in ids:
            await ended(apg, id, "dead_letter")
    cursor = await apg.execute("select reason, error_message from postmill.dead_letter order by id")
    (one, two, three) = await cursor.fetchall()
    assert one == (
        "undecodable",
        "payload does not fit 'sync': #/provider_id: this value is not of type \"string\"",
    )
    assert two == (
        "undecodable", "payload does not fit 'sync': #/path_prefix: begins with '-': the program would take it for an option"
    )  # fmt: skip
    assert three[0] == "permanent_error"
    assert programs.calls("zoltag") == []


async def test_the_worker_follows_what_is_defined(database: Database, apg: Conn, programs: Programs) -> None:
    """New definitions, new versions, new queues and switched-off ones, without a restart."""
    programs.make("one")
    programs.make("two")

    def adopt(name: str) -> QueueSlots | None:
        return QueueSlots(name, 2) if name.startswith("sync") else None

    async with working(database.dsn, adopt=adopt) as worker:
        made = await define(apg, "sync", argv_template=["one", "a"], queue="sync:night")
        await ended(apg, await enqueue(apg, "sync"), "succeeded")
        await adrive(apg, definitions.edit(made.id, {"argv_template": ["two", "b"]}))
        await until(lambda: worker._shop is not None and worker._shop.following.codes.get("sync") == "2")
        await ended(apg, await enqueue(apg, "sync"), "succeeded")
        seen = await adrive(apg, definitions.definition("sync"))
        assert [(by.worker_id, by.same) for by in seen.served_by] == [(worker.worker_id, True)]
        assert seen.drift == []
        waiting = await enqueue(apg, "sync", delay=3600)
        await adrive(apg, definitions.edit(made.id, {"is_active": False}))
        await until(lambda: worker._shop is not None and "sync" not in worker._shop.handlers)
        await apg.execute("select postmill.retry_jobs(array[%s])", [waiting])
        await until(lambda: _put_back(apg, waiting))
        elsewhere = await define(apg, "else", argv_template=["one"], queue="other")

        async def known_and_not_claimed() -> bool:
            seen = await adrive(apg, definitions.definition(elsewhere.id))
            return (len(seen.served_by), seen.drift) == (1, ["queue_unserved"])

        await until(known_and_not_claimed)
    assert (programs.calls("one"), programs.calls("two")) == ([["a"]], [["b"]])


async def _put_back(conn: Conn, id: UUID) -> bool:
    cursor = await conn.execute(
        "select true from postmill.ready join postmill.refused_type on job_type = 'sync'"
        " where id = %s and postmill.is_refused_lane(ready.lane, job_type)",
        [id],
    )
    return await cursor.fetchone() is not None


async def test_with_functions_in_one_worker(database: Database, apg: Conn, programs: Programs) -> None:
    programs.make("zoltag")
    await define(apg, "sync", argv_template=["zoltag"], worker_limit=1)

    @job
    async def greet() -> str:
        return "hello"

    async with working(database.dsn, greet):
        jobs = [await enqueue(apg, "sync"), await enqueue(apg, "sync"), (await aenqueue(apg, greet.new())).id]
        for id in jobs:
            await ended(apg, id, "succeeded")
    assert len(programs.calls("zoltag")) == 2


async def test_a_function_of_a_commands_name_does_not_start(database: Database, apg: Conn) -> None:
    """A worker must not take over what an operator has put on the allow-list."""
    await define(apg, "sync", argv_template=["zoltag"])

    @job("sync")
    async def other() -> None: ...

    with pytest.raises(
        DefinitionError, match="'sync' cannot be registered: a stored definition of another kind"
    ):
        async with working(database.dsn, other):
            pass
