"""`postmill dead stats | edit | replay --rate …` and `postmill operations`."""

import json
import stat
import threading
from contextlib import contextmanager

import psycopg
import pytest

from tests.cli.support import cli


@pytest.fixture
def dead(stage):
    """Seven dead letters of two causes."""
    stage.register("greet")
    stage.open("greet")
    ids = [stage.enqueue("greet", json.dumps({"n": n, "token": "t-0"})) for n in range(7)]
    stage.claim()
    for n, id in enumerate(ids):
        stage.bury(
            id, "quota exceeded" if n < 5 else "no such key", error_class="Quota" if n < 5 else "KeyError"
        )
    return ids


@contextmanager
def upkeep(dsn):
    """What a worker's round does, step by step, in a thread of this test."""
    over = threading.Event()

    def work():
        with psycopg.connect(dsn, autocommit=True) as conn:
            while not over.is_set():
                for id, _, _, allowed in conn.execute(
                    "select * from postmill.running_operations(100)"
                ).fetchall():
                    items = conn.execute(
                        "select n from postmill.next_items(%s, %s)", (id, allowed)
                    ).fetchall()
                    step = "select * from postmill.step_operation(%s, %s::int[], '{}')"
                    conn.execute(step, (id, [item[0] for item in items]))
                over.wait(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_statistics(dsn, dead):
    found = cli("dead", "stats", "--json", dsn=dsn).json
    assert found["open"] == 7
    assert found["by_cause"] == [{"status": None, "reason": "max_retries_exceeded", "count": 7}]
    told = cli("dead", "stats", dsn=dsn).out
    assert told.startswith("7 open, the oldest given up ")
    assert "last hour: 7 given up, 0 replayed or discarded" in told
    assert cli("dead", "stats", "--tenant", "nobody", dsn=dsn).code == 5
    listed = cli("dead", "list", "--older-than", "1h", "--json", dsn=dsn).json
    assert listed == []
    assert len(cli("dead", "list", "--newer-than", "1h", "--json", dsn=dsn).json) == 7


def test_a_preview_does_nothing(dsn, dead, pg):
    told = cli("dead", "replay", "--all", "--message", "quota", "--preview", dsn=dsn)
    assert told.code == 0
    assert told.out.startswith("5 letters of 1 tenant, the oldest given up ")
    assert cli("dead", "discard", "--all", "--preview", "--json", dsn=dsn).json["count"] == 7
    assert pg.execute("select count(*) from postmill.operation").fetchone() == (0,)
    refused = cli("dead", "replay", "--rate", "5", dsn=dsn)
    assert (refused.code, "which dead letters?" in refused.err) == (2, True)
    assert cli("dead", "replay", "--all", "--rate", "0", "--yes", dsn=dsn).code == 2
    assert cli("dead", "replay", "--all", "--message", "nobody", "--detach", dsn=dsn).code == 5
    for no in ("2026.11.3", "0", "-1", "12345678901"):
        refused = cli("dead", "replay", str(dead[0]), "--on-version", no, dsn=dsn)
        assert (refused.code, "number of a definition's version, such as 3, not" in refused.err) == (2, True)


def test_a_bulk_replay_is_watched_to_its_end(dsn, dead):
    with upkeep(dsn):
        done = cli("dead", "replay", "--all", "--message", "QUOTA", "--rate", "500", "--yes", dsn=dsn)
        assert done.code == 0
        assert "jobs         5: 5 replayed, 500 a second at most" in done.out
        assert "replays now  5 queued" in done.out
        found = cli(
            "dead", "discard", "--all", "--rate", "500", "--reason", "old", "--yes", "--json", dsn=dsn
        )
    assert found.code == 0
    assert (found.json["kind"], found.json["status"], found.json["done"]) == ("discard", "finished", 2)
    assert cli("dead", "stats", dsn=dsn).out == "no dead letters\n"


def test_more_than_one_call_does_become_an_operation(dsn, dead, pg, monkeypatch):
    monkeypatch.setattr("postmill.cli.commands.dead_act.MOST", 4)
    asked = cli("dead", "replay", "--all", "--message", "quota", "--json", dsn=dsn)
    assert (asked.code, asked.json["error"]["message"]) == (2, "replay of 5 dead letters is not confirmed")
    assert "5 are more than 4: an operation, which workers carry out" in asked.err
    with upkeep(dsn):
        done = cli("dead", "replay", "--all", "--message", "quota", "--yes", "--json", dsn=dsn)
        assert (done.code, done.json["status"], done.json["done"]) == (0, "finished", 5)
        left = cli("dead", "discard", "--all", "--reason", "old", "--yes", dsn=dsn)
        assert (left.code, "closed as failed" in left.out) == (0, True)
    assert pg.execute("select kind, total from postmill.operation").fetchall() == [("replay", 5)]


def test_an_operation_is_steered(dsn, dead):
    begun = cli("dead", "replay", "--all", "--canary", "2", "--detach", "--yes", dsn=dsn)
    assert begun.code == 0
    id = begun.out.strip()
    (listed,) = cli("operations", "list", "--json", dsn=dsn).json
    assert (listed["id"], listed["stage"], listed["total"]) == (id, "canary", 7)
    paused = cli("operations", "pause", id, "--reason", "lunch", dsn=dsn)
    assert f"{id}  paused; 0 replayed, 7 to go" in paused.out
    shown = cli("operations", "show", id, dsn=dsn)
    assert "paused: lunch (" in shown.out
    watched = cli("operations", "show", id, "--watch", dsn=dsn)
    assert (watched.code, "paused: lunch" in watched.out) == (1, True)
    assert cli("operations", "pause", id, dsn=dsn).out.endswith("it was so already; 0 replayed, 7 to go\n")
    assert "resumed" in cli("operations", "resume", id, dsn=dsn).out
    assert "aborted" in cli("operations", "abort", id, dsn=dsn).out
    late = cli("operations", "resume", id, dsn=dsn)
    assert (late.code, "it has ended: aborted" in late.err) == (1, True)
    assert cli("operations", "list", dsn=dsn).out == "no operation runs, is paused or waits for approval\n"
    assert id in cli("operations", "list", "--all", dsn=dsn).out
    assert cli("operations", "show", "01980000-0000-7000-8000-000000000000", dsn=dsn).code == 5


def test_an_edit_by_arguments_and_by_editor(dsn, dead, pg, tmp_path, monkeypatch):
    id = str(dead[0])
    asked = cli("dead", "edit", id, "n=12", dsn=dsn)
    assert asked.code == 2
    assert "/n  0 → 12" in asked.err
    same = cli("dead", "edit", id, "n=0", "--yes", dsn=dsn)
    assert (same.code, "nothing was changed" in same.err) == (2, True)
    made = cli("dead", "edit", id, "n=12", "token=t-1", "--yes", dsn=dsn)
    assert '/token  "[redacted]" → "[redacted]"' in made.err
    assert "runs again as " in made.out
    new = pg.execute("select payload from postmill.job where replayed_from = %s", [id]).fetchone()
    assert new == ({"n": 12, "token": "t-1"},)
    assert cli("dead", "edit", str(dead[1]), "--yes", dsn=dsn).code == 2  # no terminal, no editor

    from postmill.cli import editor

    script = tmp_path / "ed"
    script.write_text("#!/bin/sh\nsed -i 's/1/41/' \"$1\"\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(script))
    assert editor.edited_text('{"n": 1}') == '{"n": 41}'
    monkeypatch.setenv("VISUAL", "false")
    with pytest.raises(Exception, match="ended with exit code 1"):
        editor.edited_text("{}")


def test_rules_are_visible(dsn, dead, pg):
    assert cli("dead", "rules", dsn=dsn).out == "no worker has run a recovery rule\n"
    rule = {"quota": {"message": "quota", "older_than": 0, "times": 1, "most": 3}}
    pg.execute("select * from postmill.recover(%s)", [json.dumps(rule)])
    told = cli("dead", "rules", dsn=dsn).out
    assert "message quota" in told
    (found,) = cli("dead", "rules", "--json", dsn=dsn).json
    assert (found["name"], found["replayed"], found["skipped"]) == ("quota", 3, 0)
