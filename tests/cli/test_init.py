"""`init`, `version`, `--help`, and what is said where nothing is set up yet."""

import ast
import tomllib

import pytest

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
    nobody_says = {"priority": 100}  # where neither settings nor code do
    assert with_defaults.queue("default") == without.queue("default").model_copy(update=nobody_says)


def test_init_never_overwrites(folder):
    (folder / "jobs.py").write_text("mine")
    answer = cli("init", "--json")
    assert [entry["status"] for entry in answer.json] == ["kept", "written"]
    assert (folder / "jobs.py").read_text() == "mine"


def test_what_comes_next_fits_the_jobs_that_are_there(folder):
    assert "enqueue greet" in cli("init").out
    (folder / "jobs.py").write_text("mine")
    again = cli("init").out
    assert "postmill up jobs.py" in again
    assert "greet" not in again


def test_init_in_a_new_folder(folder):
    assert cli("init", "a shop").code == 0
    assert (folder / "a shop" / "jobs.py").exists()


def test_version():
    assert cli("version").out.startswith("postmill ")
    assert set(cli("version", "--json").json) == {"postmill", "schema", "python", "psycopg", "libpq"}
