"""Tables, the line of time, and the two streams."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from postmill.cli.tables import table
from postmill.cli.timeline import WIDTH, bar, timeline
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


def text_of(thing, width=200):
    out = io.StringIO()
    Console(file=out, width=width).print(thing)
    return out.getvalue()


@pytest.mark.parametrize(
    ("begin", "end", "drawn"),
    [
        (0, 10, "▒" * WIDTH),
        (0, 5, "▒" * (WIDTH // 2) + "·" * (WIDTH // 2)),
        (5, 5.0001, "·" * 15 + "▒" + "·" * 16),
        (10, 10, "·" * (WIDTH - 1) + "▒"),
        (-3, 20, "▒" * WIDTH),
    ],
)
def test_a_bar_stands_where_the_attempt_was(begin, end, drawn):
    assert bar(attempt(1, begin, end), START, START + timedelta(seconds=10)).plain == drawn


def test_a_job_that_took_no_time_has_a_bar():
    assert len(bar(attempt(1, 0, 0), START, START).plain) == WIDTH


def test_the_line_of_time():
    rows = [
        attempt(1, 1, 2, error_class="OSError", error_message="try\nagain \x1b[31m"),
        attempt(2, 5, None, status="running"),
    ]
    shown = text_of(timeline(rows, START, START + timedelta(seconds=8)))
    first, second = [line for line in shown.splitlines() if "host:1" in line]
    assert "OSError: try again \\x1b[31m" in first
    assert "1.0 s" in first
    assert "3.0 s" in second
    assert "running" in second


def test_a_narrow_terminal_cuts_and_does_not_wrap():
    shown = text_of(table(("id", "type", "error"), [("0198f3a2-7c11-7abc", "greet", "x" * 300)]), width=60)
    assert len(shown.splitlines()) == 3
    assert "0198f3a2-7c11-7abc   greet   xxx" in shown
    assert all(len(line) <= 60 for line in shown.splitlines())


def test_markup_in_data_stays_text():
    assert "[bold]x[/] :smile:" in text_of(table(("a",), [("[bold]x[/] :smile:",)]))
