"""`init`, `version`, `--help`, and what is said where nothing is set up yet."""

import ast
import tomllib

import pytest
import typer

from postmill.cli.exits import ExitCode
from postmill.cli.tree import app
from postmill.domain.settings_load import load
from tests.cli.support import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_writes_a_job_and_settings(folder):
    answer = cli("init")
    assert answer.code == 0
    assert "postmill up jobs.py" in answer.out
    ast.parse((folder / "jobs.py").read_text())
    assert tomllib.loads((folder / "postmill.toml").read_text()) == {}


def test_what_init_comments_are_the_defaults(folder):
    cli("init")
    lines = (folder / "postmill.toml").read_text().splitlines()
    settings = [line[2:] for line in lines if line.startswith("# ") and ("=" in line or line[2:3] == "[")]
    plain = [line for line in settings if not line.startswith(("The ", "database_url", "listen_url"))]
    (folder / "all.toml").write_text("\n".join(plain))
    with_defaults = load(folder / "all.toml", env={})
    without = load(folder / "postmill.toml", env={})
    for section in ("schema_name", "notify", "worker", "retry", "log", "retention"):
        assert getattr(with_defaults, section) == getattr(without, section), section
    assert with_defaults.queue("default") == without.queue("default")


def test_init_never_overwrites(folder):
    (folder / "jobs.py").write_text("mine")
    answer = cli("init", "--json")
    assert [entry["status"] for entry in answer.json] == ["kept", "written"]
    assert (folder / "jobs.py").read_text() == "mine"


def test_init_in_a_new_folder(folder):
    assert cli("init", "a shop").code == 0
    assert (folder / "a shop" / "jobs.py").exists()


def test_version():
    assert cli("version").out.startswith("postmill ")
    assert set(cli("version", "--json").json) == {"postmill", "schema", "python", "psycopg", "libpq"}


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


def test_no_database_is_said_with_what_to_do():
    answer = cli("jobs", "list")
    assert answer.code == 3
    assert answer.out == ""
    assert "no database is configured" in answer.err
    assert "postmill up" in answer.err


def test_with_json_an_error_is_the_document():
    answer = cli("jobs", "list", "--json")
    assert answer.code == 3
    assert answer.json["error"]["code"] == 3
    assert answer.json["error"]["kind"] == "DatabaseMissing"


def test_a_server_that_is_not_there():
    answer = cli("jobs", "list", "--dsn", "host=127.0.0.1 port=1 password=geheim user=me dbname=shop")
    assert answer.code == 3
    assert "cannot connect to database shop at 127.0.0.1:1" in answer.err
    assert "geheim" not in answer.err


def test_a_dsn_that_is_none():
    answer = cli("--dsn", "nonsense", "jobs", "list")
    assert answer.code == 2
    assert "postgresql://" in answer.err


def test_what_up_left_behind_is_not_running(folder):
    (folder / ".postmill").mkdir()
    (folder / ".postmill" / "postmill.env").write_text(
        f"POSTMILL_DATABASE_URL='postgresql://postgres@/postgres?host={folder}'\n"
    )
    answer = cli("queues", "list")
    assert answer.code == 3
    assert "is not running" in answer.err
    assert "postmill up MODULE" in answer.err
