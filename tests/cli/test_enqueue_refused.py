"""What `postmill enqueue` refuses, and how it says so."""

import pytest

from postmill import Registry, job
from postmill.bind import drive
from postmill.operate import commands
from tests.cli.support import cli


@job
def send(to: str, copies: int = 1, urgent: bool = False, cc: list[str] | None = None) -> None: ...


@pytest.fixture
def database(emptied):
    """One for the whole module: its tests are many and small."""
    return emptied


@pytest.fixture
def pg(lasting):
    """Its connection, too."""
    return lasting


@pytest.fixture(autouse=True)
def registered(pg, here):
    pg.execute("update postmill.job_definition set is_active = true")
    drive(pg, commands.register(Registry([send])))


def stored(pg):
    return pg.execute(
        "select id, payload, priority, tenant_id, scheduled_for - created_at, actor_type, idempotency_key"
        " from postmill.job"
    ).fetchall()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["sned", "to=a"],
            5,
            "did you mean 'send'? known job types: send; if it is a new one, register it: postmill",
        ),
        (["send"], 2, "missing argument: to (string)"),
        (["send", "to=a", "copies=x"], 2, "'copies' takes an integer"),
        (["send", "copis=2"], 2, "did you mean 'copies'"),
        (["send", "to=a", "--at", "2031-05-17T09:30"], 2, "no time zone"),
        (["send", "to=a", "--delay", "soon"], 2, "not a duration"),
        (["send", "to=a", "--delay", "5m", "--at", "2031-05-17T09:30Z"], 2, "exclude each other"),
        (["send", "to=a", "--timeout", "5s"], 2, "--wait"),
        (["send", "--payload", "[]"], 2, "object"),
        (["send", "--payload", "{"], 2, "not JSON"),
        (["send", "--payload", "@nowhere.json"], 2, "cannot be read"),
        (["send", "to=a\x00b"], 2, "args.to"),
        (["send", "to=a", "--tenant", "me"], 5, "there is no tenant 'me'"),
        (
            ["send", '{"to": "a"}'],
            2,
            'expected name=value, got JSON: {"to": "a"} → all at once it goes by: --payload \'{"to": "a"}\'',
        ),
        (["send", "to=a", "--key", ""], 2, "key"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(dsn, pg, words, code, said):
    answer = cli("enqueue", *words, dsn=dsn)
    assert answer.code == code
    assert said in " ".join(answer.err.split())
    assert answer.out == ""
    assert stored(pg) == []


def test_a_type_that_is_switched_off(dsn, pg):
    pg.execute("update postmill.job_definition set is_active = false")
    answer = cli("enqueue", "send", "to=a", dsn=dsn)
    assert answer.code == 1
    assert "is inactive" in answer.err


def test_waiting_without_a_worker_warns_and_times_out(dsn, pg):
    answer = cli("enqueue", "send", "to=a", "--wait", "--timeout", "100ms", "--json", dsn=dsn)
    assert answer.code == 6
    assert "no live worker serves send" in answer.err
    assert answer.json["error"]["code"] == 6
    assert answer.json["id"] == str(stored(pg)[0][0])


def test_that_nobody_serves_the_queue_is_said(dsn, stage):
    hint = "warning: no live worker serves send in queue default; the job waits until one does"
    answer = cli("enqueue", "send", "to=a", dsn=dsn)
    assert answer.code == 0
    assert hint in answer.err
    assert "start one: postmill worker MODULE --queues default" in answer.err
    assert cli("enqueue", "send", "to=a", "--json", dsn=dsn).err == ""
    # One that has the module and claims from another queue only does not help.
    stage.open("send", queue="other")
    assert hint in cli("enqueue", "send", "to=a", dsn=dsn).err
    type(stage)(stage.conn).open("send", worker_id="host:2:boot")
    assert "warning" not in cli("enqueue", "send", "to=a", dsn=dsn).err


def test_a_schema_that_is_missing(empty_database):
    answer = cli("enqueue", "send", "to=a", dsn=empty_database.dsn)
    assert answer.code == 4
    assert "postmill migrate" in answer.err
