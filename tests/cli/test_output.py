"""The two streams: one JSON document, or text for people; everything else on stderr."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from postmill.cli.errors import CliError
from postmill.cli.explaining import explain
from postmill.cli.output import Output, jsonable
from postmill.store.job_rows import AttemptView

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def attempt(run, begin, end, status="failed", **more):
    facts = dict.fromkeys(AttemptView.__slots__) | {
        "run": run,
        "attempt": run,
        "status": status,
        "worker_id": "host:1",
        "started_at": START + timedelta(seconds=begin),
        "finished_at": None if end is None else START + timedelta(seconds=end),
    }
    return AttemptView(**(facts | more))


def test_json_of_everything_that_is_shown():
    values = {
        "id": uuid4(),
        "at": START,
        "length": timedelta(seconds=2),
        "set": frozenset({"b", "a"}),
        "bytes": b"\xff",
        "attempt": attempt(1, 0, 1),
    }
    found = json.loads(json.dumps(values, default=jsonable))
    assert found["length"] == 2.0
    assert found["set"] == ["a", "b"]
    assert found["attempt"]["status"] == "failed"


def test_notes_and_warnings_leave_stdout_alone(capsys):
    out = Output(as_json=True)
    out.note("a note")
    out.warn("careful", "do this")
    out.say("for people")
    out.document({"a": 1})
    said = capsys.readouterr()
    assert json.loads(said.out) == {"a": 1}
    assert "a note" in said.err
    assert "→ do this" in said.err


def test_an_error_is_one_line_and_what_to_do(capsys):
    Output().error(explain(CliError("it is wrong [bold]", "do that")))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "error: it is wrong [bold]\n  → do that\n"
