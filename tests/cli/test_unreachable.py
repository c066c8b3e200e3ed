"""What is said where no database is named, or none answers."""

import pytest

from tests.cli.support import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_another_database_is_told_by_its_name():
    answer = cli("jobs", "list", "--dsn", "mysql://me:geheim@db/shop")
    assert answer.code == 2
    assert "begins with mysql://, and Postmill works on PostgreSQL only" in answer.err
    assert "geheim" not in answer.err
    assert "geheim" not in cli("jobs", "list", "--dsn", "host=x password=geheim://y").err


@pytest.mark.parametrize("words", [("jobs", "list", "--dsn", ""), ("--dsn", "", "jobs", "list")])
def test_an_empty_dsn_is_not_taken_for_none(words, dsn):
    """It comes from a variable that is not set; another database than the one that was meant would be worked on."""
    answer = cli(*words, env={"POSTMILL_DATABASE_URL": dsn})
    assert answer.code == 2
    assert "--dsn is empty" in answer.err


def test_what_up_left_behind_is_not_running(folder):
    (folder / ".postmill").mkdir()
    (folder / ".postmill" / "postmill.env").write_text(
        f"POSTMILL_DATABASE_URL='postgresql://postgres@/postgres?host={folder}'\n"
    )
    answer = cli("queues", "list")
    assert answer.code == 3
    said = "the server that .postmill/postmill.env in this folder names does not answer; start it with: postmill up"
    assert answer.err == f"error: {said}\n"
