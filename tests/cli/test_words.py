"""Ages, ids, text that is safe to show, values in words."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from postmill.cli.ages import between, length, relative
from postmill.cli.errors import CliError
from postmill.cli.ids import LEAST, SHORT, id_range, short
from postmill.cli.output import Output
from postmill.cli.tables import pairs, table
from postmill.cli.text import one_line, plain
from postmill.cli.values import duration, moment
from postmill.cli.working import described_end

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 ms"),
        (0.0004, "0.4 ms"),
        (0.035, "35 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (1.24, "1.2 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (190, "3 min 10 s"),
        (3599, "59 min"),
        (18120, "5 h 2 min"),
        (86400, "1 d"),
        (12 * 86400 + 4 * 3600, "12 d 4 h"),
        (400 * 86400, "400 d"),
    ],
)
def test_a_length_in_words(seconds, words):
    assert length(seconds) == words


def test_ages_are_told_from_the_servers_moment():
    assert relative(NOW - timedelta(seconds=90), NOW) == "1 min 30 s ago"
    assert relative(NOW + timedelta(hours=2), NOW) == "in 2 h"
    assert relative(NOW + timedelta(milliseconds=300), NOW) == "just now"
    assert relative(None, NOW) == "–"
    assert between(NOW, None) == "–"
    assert between(NOW, NOW + timedelta(seconds=5)) == "5.0 s"


def test_how_a_worker_ended_in_words():
    ended = {
        "succeeded": 0,
        "failed": 0,
        "dead_letters": 2,
        "retried": 1,
        "released": 0,
        "interrupted": 1,
        "seconds": 5.0,
    }
    assert described_end(0, ended) == (
        "drained, up for 5.0 s: 0 succeeded, 2 dead letters, 1 attempt failed and is retried, 1 interrupted and given back"
    )


def test_what_does_not_print_is_written_as_an_escape(capsys):
    hostile = "a\ufffe\u200b\x9b31m\ue000\U000e0041\ud800\tb\u00a0c é ☕"
    shown = "a\\ufffe\\u200b\\x9b31m\\ue000\\U000e0041\\ud800\tb\u00a0c é ☕"
    assert plain(hostile) == shown
    out = Output()
    # Whatever a command makes: a table of texts, facts, a line of its own.
    out.console.print(table(["name"], [[Text("x\ufffe")], ["y\ufffe"]]))
    out.console.print(pairs([("fact", "z\ufffe")]))
    Output(as_json=True).document({"w\ufffe": "\x9b\ufffe"})
    printed = capsys.readouterr().out
    assert all(rf"{name}\ufffe" in printed for name in "xyzw")
    assert r'"\u009b\ufffe"' in printed
    assert "\ufffe" not in printed
    assert "\x9b" not in printed


@given(st.uuids(), st.integers(LEAST, 36))
def test_any_beginning_of_an_id_leads_back_to_it(id, letters):
    low, high = id_range(str(id)[:letters])
    assert low <= id <= high
    assert short(id) == str(id)[:SHORT]


def test_a_whole_id_is_a_range_of_one():
    text = "0198f3a2-7c11-7abc-8000-0123456789ab"
    assert id_range(text.upper()) == (UUID(text), UUID(text))


@pytest.mark.parametrize("text", ["", "x", "0198f3a", "zz98f3a2", "0" * 33, "-"])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(CliError, match="job id"):
        id_range(text)
    with pytest.raises(CliError, match=r" (is no|for an) incident id$"):
        id_range(text, "incident")


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_left(text):
    shown = plain(text)
    assert not any(c in shown for c in "\x1b\x07\x08\x9b\u202e\u2066\ufeff\r")
    shown.encode()
    assert "\n" not in one_line(text)
    assert len(one_line(text, 50)) <= 50


def test_an_escape_shows_as_text():
    assert plain("\x1b[31mred\u202e") == "\\x1b[31mred\\u202e"


def test_values_in_words():
    assert duration(None, "--delay") is None
    assert duration("5m", "--delay") == 300
    assert moment("2031-05-17T09:30+02:00", "--at") == datetime(2031, 5, 17, 7, 30, tzinfo=UTC)
    with pytest.raises(CliError, match="not a duration"):
        duration("soon", "--delay")
    with pytest.raises(CliError, match="is no moment"):
        moment("soon", "--at")
    with pytest.raises(CliError, match="no time zone") as refused:
        moment("2031-05-17T09:30", "--at")
    assert "2031-05-17T09:30Z" in refused.value.hint
