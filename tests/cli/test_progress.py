"""Long work shows how far it is to those who look on, and to nobody else."""

import io

import pytest

from postmill.cli import run as cli_run
from postmill.cli.output import Output, Screen
from postmill.cli.progress import counting, overseen, tallying
from tests.cli.support import cli


@pytest.fixture
def seen():
    """An output whose stderr is a terminal, and what was written there."""
    out, written = Output(), io.StringIO()
    out.side = Screen(file=written, force_terminal=True, width=80)
    return out, written


def test_a_terminal_sees_it_go_on(seen):
    out, written = seen
    with counting(out, "migrating", 3) as done:
        done(1, "jobs")
        done(2, "audit\x1b[31m")
    assert "migrating" in written.getvalue()
    assert "3/3" in written.getvalue()
    assert "audit\\x1b[31m" in written.getvalue()


def test_what_is_soon_over_or_piped_is_silent(seen):
    out, written = seen
    with counting(out, "migrating", 1) as done:
        done(1, "jobs")
    assert written.getvalue() == ""
    out.side = Screen(file=written, force_terminal=False)
    with counting(out, "migrating", 3) as done:
        done(3, "jobs")
    assert written.getvalue() == ""


def test_a_flow_is_overseen_step_by_step():
    def flow():
        first = yield "a"
        second = yield "b"
        return first + second

    answers = []
    whole = overseen(flow(), answers.append)
    assert (next(whole), whole.send(1)) == ("a", "b")
    with pytest.raises(StopIteration) as end:
        whole.send(2)
    assert end.value.value == 3
    assert answers == [1, 2]


def test_migrate_and_replay_in_a_pipe_say_what_they_did_only(empty_database, dsn, five):
    assert cli("migrate", dsn=empty_database.dsn).err == ""
    replayed = cli("dead", "replay", "--all", "--yes", dsn=dsn)
    assert (replayed.code, replayed.err) == (0, "")


def test_what_has_no_known_end_is_counted(seen):
    out, written = seen
    with tallying(out, "moving greet") as moved:
        moved(12_000)
        moved(345)
    assert "moving greet 12,345" in written.getvalue()


def test_a_move_shows_how_far_it_is(dsn, stage, monkeypatch, seen):
    """The whole command, its stderr a terminal."""
    out, written = seen
    stage.register("greet")
    for _ in range(3):
        stage.enqueue("greet")
    stage.register("greet", queue="mail")
    monkeypatch.setattr(cli_run, "Output", lambda **_: out)
    answer = cli("queues", "move", "greet", dsn=dsn)
    assert answer.code == 0
    assert "moving greet 3" in written.getvalue()
