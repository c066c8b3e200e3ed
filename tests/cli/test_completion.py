"""What the shell offers, asked as the shell asks."""

import socket
import time

import pytest
from typer.testing import CliRunner

from postmill.cli.tree import app


def offered(line, dsn, *, ends_open=False):
    words = line.split()
    env = {
        "_POSTMILL_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) if ends_open else len(words) - 1),
        "POSTMILL_DATABASE_URL": dsn,
    }
    result = CliRunner().invoke(app, [], env=env, prog_name="postmill")
    assert result.stderr == ""
    return result.stdout.split()


@pytest.fixture
def known(stage, pg):
    stage.register("greet")
    stage.register("mail", queue="q:mail")
    pg.execute(
        "update postmill.job_definition set arg_schema ="
        """ '{"properties": {"name": {"type": "string"}, "box": {"type": "object"}}}' where key = 'greet'"""
    )


def test_job_types_and_their_arguments(dsn, known):
    assert offered("postmill enqueue gr", dsn) == ["greet"]
    assert offered("postmill jobs list --type m", dsn) == ["mail"]
    assert offered("postmill enqueue greet na", dsn) == ["name="]
    assert offered("postmill enqueue greet name=x ", dsn, ends_open=True) == ["box:=", "name="]
    assert offered("postmill enqueue greet name = x b", dsn) == ["box:="]


def test_queues(dsn, known):
    assert offered("postmill queues pause d", dsn) == ["default"]
    assert offered("postmill worker jobs.py --queues default=3,q", dsn) == ["default=3,q:mail"]
    # As bash cuts words, and what it puts into the place of the last piece.
    assert offered("postmill queues pause q : m", dsn) == ["mail"]
    assert offered("postmill queues pause q :", dsn) == ["mail"]
    assert offered("postmill jobs list --queue = q : m", dsn) == ["mail"]
    assert offered("postmill worker jobs.py --queues default = 3,q : m", dsn) == ["mail"]


def test_jobs_dead_letters_and_tenants(dsn, five, pg):
    dead = str(five["dead_letter"])
    assert set(offered("postmill jobs show ", dsn, ends_open=True)) == {str(id) for id in five.values()}
    assert offered(f"postmill jobs cancel {dead[:-1]}", dsn) == [dead]
    assert offered("postmill dead replay ", dsn, ends_open=True) == [dead]
    pg.execute(
        "insert into postmill.tenant (id, slug, name) values (gen_random_uuid(), 'bakery', 'Ada''s bakery')"
    )
    assert offered("postmill tenants show ba", dsn) == ["bakery"]
    assert offered("postmill enqueue greet --tenant ba", dsn) == ["bakery"]
    assert offered("postmill keys create x --tenant b", dsn) == ["bakery"]


def test_a_database_that_does_not_answer_is_left_alone(here):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        assert (
            offered("postmill jobs show ", f"host=127.0.0.1 port={silent.getsockname()[1]}", ends_open=True)
            == []
        )
        assert time.monotonic() - began < 30


def test_modules_of_the_folder(dsn, here):
    (here / "shop_jobs.py").write_text("")
    (here / "pack").mkdir()
    (here / "pack" / "__init__.py").write_text("")
    assert offered("postmill worker s", dsn) == ["shop_jobs.py"]
    assert offered("postmill up p", dsn) == ["pack/"]
    assert offered("postmill up pack/_", dsn) == ["pack/__init__.py"]


def test_options_states_and_cases(dsn):
    assert offered("postmill jobs list --status su", dsn) == ["succeeded"]
    assert "--json" in offered("postmill jobs list --", dsn)
    assert "throughput" in offered("postmill bench t", dsn)


@pytest.mark.parametrize("dsn", ["host=127.0.0.1 port=1", "nonsense", "postgresql:///nowhere?host=/nowhere"])
def test_without_a_database_nothing_is_offered_and_nothing_said(here, dsn):
    assert offered("postmill enqueue gr", dsn) == []
    assert offered("postmill queues pause d", dsn) == []
    assert offered("postmill enqueue greet na", dsn) == []
