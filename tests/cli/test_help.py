"""Every command explains itself."""

import pytest
import typer

from postmill.cli.exits import ExitCode
from postmill.cli.tree import app
from tests.cli.support import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands():
    root = typer.main.get_command(app)

    def walk(command, path):
        inner = getattr(command, "commands", None)
        if inner is None:
            yield path, command
        for name, child in (inner or {}).items():
            yield from walk(child, (*path, name))

    return list(walk(root, ()))


def test_the_commands_of_the_issue_are_there():
    names = {" ".join(path) for path, _ in commands()}
    wanted = "init|up|migrate|worker|upkeep|enqueue|doctor|bench|settings|version|workers list"
    wanted += "|jobs list|jobs show|jobs cancel|jobs retry|jobs register"
    wanted += "|queues list|queues pause|queues resume|dead list|dead show|dead replay|dead discard"
    assert set(wanted.split("|")) <= names


@pytest.mark.parametrize("path", [path for path, _ in commands()], ids=" ".join)
def test_every_command_explains_itself(path):
    answer = cli(*path, "--help")
    assert answer.code == 0
    for word in ("Usage: postmill", "--json", "--dsn", "--schema", "--config", "--debug"):
        assert word in answer.out
    if path != ("version",):
        assert f"$ postmill {' '.join(path)}" in answer.out
    assert "Traceback" not in answer.out


def test_the_exit_codes_stand_in_the_help():
    answer = cli("--help")
    for code in ExitCode:
        assert f" {code.value} " in answer.out


def test_a_misspelt_command_and_option():
    assert cli("enqeue").code == 2
    assert "enqueue" in cli("enqeue").err
    assert cli("jobs", "list", "--stauts").code == 2
