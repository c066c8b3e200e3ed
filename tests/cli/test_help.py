"""Every command explains itself."""

import pytest

from postmill.cli.app import SHARED
from postmill.cli.exits import ExitCode
from postmill.cli.help_page import help_page
from tests.cli.commands import commands, tree
from tests.cli.support import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_issue_are_there():
    names = {" ".join(path) for path in commands()}
    wanted = "init|up|migrate|worker|upkeep|enqueue|doctor|bench|settings|version|workers list"
    wanted += "|jobs list|jobs show|jobs cancel|jobs retry|jobs register"
    wanted += "|queues list|queues pause|queues resume|dead list|dead show|dead replay|dead discard"
    assert set(wanted.split("|")) <= names


@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_every_command_explains_itself(path):
    answer = cli(*path, "--help")
    assert answer.code == 0
    for word in ("Usage: postmill", "--json", "--dsn", "--schema", "--config", "--debug"):
        assert word in answer.out
    assert f"$ postmill {' '.join(path)}" in answer.out
    assert "Traceback" not in answer.out


def test_the_exit_codes_stand_in_the_help():
    answer = cli("--help")
    for code in ExitCode:
        assert f" {code.value} " in answer.out


@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_word_is_broken_and_no_line_too_long(width):
    for path, command in tree():
        name = " ".join(["postmill", *path])
        page = [line.plain for line in help_page(command, name, SHARED, width)]
        words = " ".join(page).split()
        assert set(words) <= set(
            " ".join(line.plain for line in help_page(command, name, SHARED, 500)).split()
        )
        longest = 8 + max(map(len, words))  # an indent, and a word that no terminal of that width could hold
        assert max(map(len, page)) <= max(width, longest), name
        assert not any(line != line.rstrip() for line in page)


def test_the_page_follows_the_terminal():
    wide, narrow = cli("enqueue", "--help"), cli("enqueue", "--help", env={"COLUMNS": "60"})
    assert max(map(len, narrow.out.splitlines())) <= 60 < max(map(len, wide.out.splitlines()))
    assert narrow.out.split() == wide.out.split()
    assert "NAME:=JSON for lists" in " ".join(narrow.out.split())
    assert cli("jobs", "show", "-h", env={"COLUMNS": "20"}).code == 0


def test_a_misspelt_command_and_option():
    assert cli("enqeue").code == 2
    assert "enqueue" in cli("enqeue").err
    assert cli("jobs", "list", "--stauts").code == 2
