import json

import pytest

from postmill import Registry, job
from postmill.bind import drive
from postmill.operate import commands
from tests.cli.support import cli


@job
def send(to: str, copies: int = 1, urgent: bool = False, cc: list[str] | None = None) -> None: ...


@pytest.fixture(autouse=True)
def registered(pg, here):
    drive(pg, commands.register(Registry([send])))


def stored(pg):
    return pg.execute(
        "select id, payload, priority, tenant_id, scheduled_for - created_at, actor_type, idempotency_key"
        " from postmill.job"
    ).fetchall()


def test_it_prints_the_id_alone(dsn, pg):
    answer = cli("enqueue", "send", "to=ada", "copies=2", "urgent=yes", "cc=a", "cc=b", dsn=dsn)
    assert answer.code == 0
    [(id, payload, _, _, _, actor, _)] = stored(pg)
    assert answer.out == f"{id}\n"
    assert payload == {"to": "ada", "copies": 2, "urgent": True, "cc": ["a", "b"]}
    assert actor == "user"
    assert "is in queue default" in answer.err


def test_every_option_arrives(dsn, pg):
    tenant = "0198f3a2-7c11-7abc-8000-0123456789ab"
    pg.execute("insert into postmill.tenant (id, slug, name) values (%s, 't', 't')", (tenant,))
    words = ["--priority", "5", "--tenant", tenant, "--delay", "10m", "--key", "k:1", "--json"]
    answer = cli("enqueue", "send", 'to:="ada"', *words, dsn=dsn)
    assert answer.json["created"] is True
    assert answer.json["queue"] == "default"
    [(id, _, priority, owner, delay, _, key)] = stored(pg)
    assert (str(id), priority, str(owner), key) == (answer.json["id"], 5, tenant, "k:1")
    assert delay.total_seconds() == 600


def test_a_key_that_is_taken_creates_nothing(dsn, pg):
    first = cli("enqueue", "send", "to=a", "--key", "k", dsn=dsn)
    again = cli("enqueue", "send", "to=a", "--key", "k", dsn=dsn)
    assert again.code == 0
    assert again.out == first.out
    assert "none was created" in again.err
    assert len(stored(pg)) == 1


@pytest.mark.parametrize("how", ["text", "file", "stdin"])
def test_a_whole_payload(dsn, pg, here, how):
    text = json.dumps({"to": "ada", "copies": 3})
    (here / "payload.json").write_text(text)
    given = {"text": text, "file": "@payload.json", "stdin": "-"}[how]
    assert cli("enqueue", "send", "--payload", given, "copies=4", dsn=dsn, stdin=text).code == 0
    assert stored(pg)[0][1] == {"to": "ada", "copies": 4}


def test_a_strict_envelope_is_filled_in_as_far_as_the_command_line_knows(dsn, pg):
    @job(strict_envelope=True, idempotency="active")
    def scan(week: int) -> None: ...

    drive(pg, commands.register(Registry([scan])))
    pg.execute("insert into postmill.tenant (id, slug, name) values (gen_random_uuid(), 'bakery', 'Bakery')")
    lacking = cli("enqueue", "scan", "week=1", dsn=dsn)
    assert lacking.code == 2
    assert "needs org_id" in lacking.err
    assert "--tenant SLUG" in lacking.err
    answer = cli("enqueue", "scan", "week=1", "--tenant", "bakery", dsn=dsn)
    assert answer.code == 0, answer.err
    found = pg.execute(
        "select request_id, correlation_id, actor_id is not null from postmill.job where id = %s",
        [answer.out.strip()],
    ).fetchone()
    assert found[0].startswith("cli-")
    assert found == (found[0], found[0], True)
