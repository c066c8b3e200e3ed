"""`postmill dead`."""

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
