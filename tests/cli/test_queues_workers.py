"""Queues, dead letters and workers."""

import re

from tests.cli.support import cli


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


def test_workers(dsn, stage, pg):
    stage.open("greet", "other")
    [worker] = cli("workers", "list", "--json", dsn=dsn).json
    assert (worker["worker_id"], worker["state"]) == ("host:1:boot", "running")
    assert "default=10" in cli("workers", "list", dsn=dsn).out
    pg.execute("select postmill.close_session(%s)", (stage.holder,))
    pg.execute("update postmill.worker set last_seen_at = last_seen_at - interval '2 hours'")
    assert cli("workers", "list", "--json", dsn=dsn).json == []
    assert [w["state"] for w in cli("workers", "list", "--all", "--json", dsn=dsn).json] == ["stopped"]
