"""`postmill triggers …` and `postmill publish`."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection

from tests.cli.support import cli
from tests.triggers.support import REGISTER, one, trigger

Conn = Connection[Any]


@pytest.fixture
def pg(pg: Conn) -> Conn:
    pg.execute(REGISTER)
    return pg


def test_looking_at_triggers(pg: Conn, dsn: str) -> None:
    assert "over the API" in cli("triggers", "list", dsn=dsn).err
    id = trigger(pg, "nightly", cron_expr="0 2 * * *", timezone="America/New_York", payload={"a": 1})
    trigger(pg, "resync", event_name="folder.*")
    listed = cli("triggers", "list", dsn=dsn).out
    assert "0 2 * * * (America/New_York)" in listed
    assert "event folder.*" in listed
    (found,) = cli("triggers", "list", "--type", "schedule", "--json", dsn=dsn).json
    assert (found["id"], found["payload_template"]) == (str(id), {"a": 1})
    page = cli("triggers", "show", "nightly", dsn=dsn).out
    assert '{"a": 1}' in page
    runs = cli("triggers", "next", str(id)[:13], "--count", "3", "--json", dsn=dsn).json
    assert [run["local"][11:16] for run in runs] == ["02:00"] * 3
    assert "waits for events" in cli("triggers", "next", "resync", dsn=dsn).out
    unknown = cli("triggers", "show", "nothing", dsn=dsn)
    assert (unknown.code, "postmill triggers list" in unknown.err) == (5, True)
    trigger(pg, "nightly", every="1 hour")
    several = cli("triggers", "show", "nightly", dsn=dsn)
    assert "several triggers could be 'nightly'" in several.err


def test_acting_on_triggers(pg: Conn, dsn: str) -> None:
    trigger(pg, "resync", event_name="folder.*", payload={"path": "{{ event.path }}", "n": "{{ event.n }}"})
    assert "is disabled" in cli("triggers", "disable", "resync", dsn=dsn).out
    assert one(pg, "select is_enabled from postmill.trigger") is False
    made = cli("publish", "folder.updated", dsn=dsn)
    assert "no trigger waits for it" in made.err
    assert "is enabled" in cli("triggers", "enable", "resync", dsn=dsn).out
    assert (
        one(pg, "select count(*) from postmill.audit_log where action = 'triggers.change' and via = 'cli'")
        == 2
    )
    ran = cli("triggers", "run", "resync", "path=/a", "n:=3", "--json", dsn=dsn).json
    job = one(pg, "select to_jsonb(j) from postmill.job j where id = %s", ran["job_id"])
    assert (job["payload"], job["source"]) == ({"path": "/a", "n": 3}, "manual")
    failing = cli("triggers", "run", "resync", "--json", dsn=dsn)
    assert (failing.code, "has no attribute" in failing.err) == (1, True)


def test_publishing(pg: Conn, dsn: str) -> None:
    trigger(pg, "resync", event_name="folder.*", payload={"path": "{{ event.path }}"})
    answer = cli("publish", "folder.updated", "path=/a", "--correlation-id", "c", "--json", dsn=dsn).json
    (delivery,) = answer["deliveries"]
    assert (delivery["label"], delivery["outcome"]) == ("resync", "enqueued")
    event = one(pg, "select to_jsonb(e) from postmill.event e")
    assert (event["context"], event["correlation_id"], event["actor_type"]) == ({"path": "/a"}, "c", "user")
    shown = cli("publish", "folder.updated", "--context", '{"path": "/a"}', dsn=dsn).out
    assert "duplicate" in shown
    for words, why in (
        (["a b"], "is no name of an event"),
        (["a", "--context", "[1]"], "is a JSON object"),
        (["a", "--context", "{"], "is not JSON"),
        (["a", "--tenant", "nobody"], "nobody"),
    ):
        refused = cli("publish", *words, dsn=dsn)
        assert refused.code != 0
        assert why in refused.err
