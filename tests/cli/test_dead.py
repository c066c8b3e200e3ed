"""`postmill dead`."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.cli.support import cli
from tests.support.eventually import eventually


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


def test_a_second_replay_needs_a_word(dsn, dead, pg):
    id = str(dead[0])
    new = cli("dead", "replay", id, "--json", dsn=dsn).json[0]["new_id"]
    cli("jobs", "cancel", new, dsn=dsn)
    refused = cli("dead", "replay", id, dsn=dsn)
    assert refused.code == 1
    assert f"was replayed already, as {new}" in refused.out
    assert cli("jobs", "retry", id, "--json", dsn=dsn).json[0]["status"] == "already_replayed"
    assert cli("dead", "replay", "--all", "--again", "--yes", dsn=dsn).code == 2
    again = cli("dead", "replay", id, "--again", "--json", dsn=dsn)
    assert (again.code, again.json[0]["status"]) == (0, "replayed")
    # Somebody else replays one between our list and our act.
    with psycopg.connect(dsn) as other:
        other.execute("select postmill.replay_jobs(%s)", [[dead[1]]])
        with ThreadPoolExecutor(1) as pool:
            ours = pool.submit(cli, "dead", "replay", "--all", "--yes", dsn=dsn)
            eventually(
                lambda: pg.execute("select count(*) from pg_locks where not granted").fetchone() != (0,), 30
            )
            other.commit()
            answer = ours.result()
    assert answer.code == 0
    assert "1 of 2 skipped: somebody else has replayed them meanwhile" in answer.err
    assert answer.out.count("skipped: runs again already") == 1


def test_what_must_be_asked_about(dsn, dead, pg, stage):
    pg.execute("update postmill.job_definition set replay_class = 'ask' where key = 'greet'")
    refused = cli("dead", "replay", str(dead[0]), dsn=dsn)
    assert (refused.code, "wants to be asked before a replay: --yes" in refused.out) == (1, True)
    assert cli("jobs", "retry", str(dead[0]), "--json", dsn=dsn).json[0]["status"] == "unconfirmed"
    bulk = cli("dead", "replay", "--all", dsn=dsn, stdin="y\n")
    assert bulk.code == 0, bulk.err
    assert "2 of 3 skipped: their definition wants to be asked; add --yes" in bulk.err
    assert "replayed already" not in bulk.err
    assert bulk.out.count("runs again as") == 1
    assert cli("jobs", "retry", str(dead[0]), "--yes", dsn=dsn).code == 0
    assert cli("dead", "replay", "--all", "--yes", dsn=dsn).code == 0
    assert cli("dead", "list", "--json", dsn=dsn).json == []


def test_a_question_on_a_terminal(dsn, dead, pg):
    pg.execute("update postmill.job_definition set replay_class = 'ask' where key = 'greet'")
    for word, status in (("n", b"wants to be asked"), ("y", b"runs again as")):
        ours, theirs = os.openpty()
        command = [sys.executable, "-m", "postmill", "jobs", "retry", str(dead[0])]
        process = subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"POSTMILL_DATABASE_URL": dsn},
        )  # fmt: skip
        os.write(ours, word.encode() + b"\n")
        out, err = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert b"1 of 1 job must be asked about before a replay; replay?" in err
        assert status in out


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
