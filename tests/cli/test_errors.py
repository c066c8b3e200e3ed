import inspect

import psycopg
import pytest

from postmill.cli.errors import CliError
from postmill.cli.exits import MEANINGS, ExitCode, table
from postmill.cli.explaining import explain
from postmill.domain import errors
from postmill.domain.errors import DatabaseMissing, PostmillError, UnknownJobType, UnknownQueue, WaitTimeout
from postmill.local.errors import LocalServerError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CliError("no"), ExitCode.USAGE),
        (UnknownJobType("gret", ["greet"]), ExitCode.NOT_FOUND),
        (UnknownQueue("x", ["default"]), ExitCode.NOT_FOUND),
        (DatabaseMissing("none"), ExitCode.NO_DATABASE),
        (errors.SchemaMissing("none"), ExitCode.SCHEMA),
        (errors.SchemaTooOld("old"), ExitCode.SCHEMA),
        (errors.SchemaTooNew("new"), ExitCode.SCHEMA),
        (errors.SettingsError("bad"), ExitCode.USAGE),
        (errors.PayloadRefused("args.a", "is NaN"), ExitCode.USAGE),
        (errors.KeyTaken("k", "other"), ExitCode.FAILED),
        (WaitTimeout("late"), ExitCode.TIMEOUT),
        (LocalServerError("in use"), ExitCode.FAILED),
        (psycopg.OperationalError("refused"), ExitCode.NO_DATABASE),
        (psycopg.errors.InvalidSchemaName("3F000"), ExitCode.SCHEMA),
        (psycopg.errors.UndefinedFunction("42883"), ExitCode.SCHEMA),
        (psycopg.errors.InsufficientPrivilege("42501"), ExitCode.FAILED),
        (psycopg.errors.ReadOnlySqlTransaction("25006"), ExitCode.NO_DATABASE),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    told = explain(error)
    assert told.code == code
    assert told.message
    assert not told.unexpected


def test_every_error_of_ours_is_explained():
    kinds = [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PostmillError)
    ]
    assert len(kinds) > 10
    for kind in kinds:
        made = kind.__new__(kind)
        made.args = ("something",)
        made.__dict__.update(
            name="n", known=(), ambiguous=(), key="k", other_type="o", detail="", path="p", why="w", field="f"
        )
        made.__dict__.update(more=(), job_type="t", faults=(), job=None, seconds=1.0, field="org_id")
        made.__dict__.update(may_register=None, answers=(errors.KeyBusy("k"),), most=1, cell="b")
        assert not explain(made).unexpected, kind


def test_a_defect_says_how_to_see_more():
    told = explain(RuntimeError("boom\x1b[31m"))
    assert told.unexpected
    assert told.code == ExitCode.FAILED
    assert "\x1b" not in told.message
    assert "--debug" in told.hint


def test_a_hint_does_not_repeat_the_message():
    assert explain(errors.SchemaMissing("no schema; run: postmill migrate")).hint == ""


def test_every_code_is_documented():
    assert set(MEANINGS) == set(ExitCode)
    assert all(str(code.value) in table() for code in ExitCode)
