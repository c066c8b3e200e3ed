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


def test_moving_what_waits(dsn, stage, shop, pg):
    stage.register("greet", queue="old")
    stage.open("greet", queue="old")
    stage.enqueue("greet")
    stage.claim("old")
    stage.enqueue("greet")
    registered = cli("jobs", "register", "jobs.py", dsn=dsn)
    assert "1 of greet still wait in old; take them along: postmill queues move greet" in registered.err
    moved = cli("queues", "move", "greet", dsn=dsn)
    assert (moved.code, moved.out) == (0, "moved 1 job of greet to default\n")
    assert "1 run from old, and come back there if they are tried again" in moved.err
    assert cli("queues", "move", "greet", dsn=dsn).out == "no job of greet waits outside of default\n"
    back = cli("queues", "move", "greet", "--to", "OLD", dsn=dsn)
    assert "new jobs of greet go to default as before" in back.err
    assert cli("queues", "move", "greet", "--json", dsn=dsn).json == {
        "job_type": "greet",
        "queue": "default",
        "home": "default",
        "moved": 1,
    }
    for words, said in ((("gret",), "did you mean 'greet'"), (("greet", "--to", "od"), "did you mean 'old'")):
        unknown = cli("queues", "move", *words, dsn=dsn)
        assert (unknown.code, said in unknown.err) == (5, True)
