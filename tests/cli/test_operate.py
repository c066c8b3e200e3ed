"""Queues, dead letters and workers."""

import re

import pytest

from tests.cli.support import cli


@pytest.fixture
def dead(stage):
    """Three dead letters: two of greet, one of other."""
    stage.register("greet", "other")
    stage.open("greet", "other")
    ids = [stage.enqueue(name) for name in ("greet", "greet", "other")]
    stage.claim()
    for id in ids:
        stage.bury(id, f"no luck with {id}")
    return ids


def test_empty_states_say_what_to_do(dsn, here):
    assert "postmill jobs register" in cli("queues", "list", dsn=dsn).err
    assert "no dead letters" in cli("dead", "list", dsn=dsn).out
    assert "postmill worker" in cli("workers", "list", dsn=dsn).err
    for group in ("queues", "dead", "workers"):
        assert cli(group, "list", "--json", dsn=dsn).json == []


def test_queues(dsn, stage):
    stage.register("greet")
    stage.register("mail", queue="q:mail")
    stage.enqueue("greet")
    stage.enqueue("mail", delay="1 hour")
    found = {queue["name"]: queue for queue in cli("queues", "list", "--json", dsn=dsn).json}
    assert (found["default"]["queued"], found["q:mail"]["scheduled"]) == (1, 1)
    assert re.search(r"q:mail .* (59 min|1 h) ", cli("queues", "list", dsn=dsn).out)


def test_pause_and_resume(dsn, stage):
    stage.register("greet")
    answer = cli("queues", "pause", "DEFAULT", "--reason", "provider is down", "--for", "30m", dsn=dsn)
    assert answer.code == 0
    assert "queue default is paused for 30 min" in answer.out
    shown = cli("queues", "list", dsn=dsn).out
    assert "provider is down" in shown
    assert re.search(r"paused, opens in (29|30) min", shown)
    assert cli("queues", "resume", "default", "--json", dsn=dsn).json == {"queue": "default", "paused": False}
    assert "open" in cli("queues", "list", dsn=dsn).out
    unknown = cli("queues", "pause", "defualt", dsn=dsn)
    assert unknown.code == 5
    assert "did you mean 'default'" in unknown.err


def test_dead_letters(dsn, dead):
    answer = cli("dead", "list", dsn=dsn)
    assert all(str(id) in answer.out for id in dead)
    assert "max_retries_exceeded" in answer.out
    assert len(cli("dead", "list", "--type", "greet", "--json", dsn=dsn).json) == 2
    assert cli("dead", "list", "--reason", "expired", dsn=dsn).out == "no such dead letters\n"
    shown = cli("dead", "show", str(dead[0]), dsn=dsn).out
    assert f"no luck with {dead[0]}" in shown
    assert "Traceback …" in shown
    assert cli("dead", "show", str(dead[0]), "--json", dsn=dsn).json["reason"] == "max_retries_exceeded"


def test_replay_and_discard_by_id(dsn, dead):
    replayed = cli("dead", "replay", str(dead[0]), "--json", dsn=dsn)
    assert replayed.json[0]["status"] == "replayed"
    discarded = cli("dead", "discard", str(dead[1]), "--reason", "gone", dsn=dsn)
    assert discarded.code == 0
    assert "closed as failed" in discarded.out
    assert cli("dead", "discard", str(dead[1]), dsn=dsn).code == 1
    assert [letter["id"] for letter in cli("dead", "list", "--json", dsn=dsn).json] == [str(dead[2])]
    gone = cli("dead", "show", str(dead[1]), dsn=dsn)
    assert gone.code == 5
    assert "no open dead letter" in gone.err


def test_all_that_match_after_a_question(dsn, dead):
    assert cli("dead", "replay", dsn=dsn).code == 2
    assert cli("dead", "replay", str(dead[0]), "--all", dsn=dsn).code == 2
    no = cli("dead", "replay", "--all", "--type", "greet", dsn=dsn, stdin="n\n")
    assert no.code == 1
    assert "replay 2 dead letters?" in no.err
    assert len(cli("dead", "list", "--json", dsn=dsn).json) == 3
    assert cli("dead", "replay", "--all", "--json", dsn=dsn).code == 2
    yes = cli("dead", "replay", "--all", "--type", "greet", "--yes", "--json", dsn=dsn)
    assert [answer["status"] for answer in yes.json] == ["replayed", "replayed"]
    assert cli("dead", "discard", "--all", "--given-up-for", "expired", "-y", dsn=dsn).code == 5
    assert cli("dead", "discard", "--all", "-y", dsn=dsn).code == 0
    assert cli("dead", "list", "--json", dsn=dsn).json == []


def test_workers(dsn, stage, pg):
    stage.open("greet", "other")
    [worker] = cli("workers", "list", "--json", dsn=dsn).json
    assert (worker["worker_id"], worker["state"]) == ("host:1:boot", "running")
    assert "default=10" in cli("workers", "list", dsn=dsn).out
    pg.execute("select postmill.close_session(%s)", (stage.holder,))
    pg.execute("update postmill.worker set last_seen_at = last_seen_at - interval '2 hours'")
    assert cli("workers", "list", "--json", dsn=dsn).json == []
    assert [w["state"] for w in cli("workers", "list", "--all", "--json", dsn=dsn).json] == ["stopped"]
