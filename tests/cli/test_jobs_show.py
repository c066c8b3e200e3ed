"""`postmill jobs show`."""

from postmill.cli.ids import SHORT
from tests.cli.support import cli


def test_one_job_on_a_page(dsn, five):
    answer = cli("jobs", "show", str(five["dead_letter"])[:SHORT], dsn=dsn)
    assert answer.code == 0
    for said in (
        "dead_letter",
        "max_retries_exceeded",
        '{"n": 1}',
        "host:1:boot",
        "ValueError: no \\x1b[31mluck",
        "Traceback …",
    ):
        assert said in answer.out
    assert "\x1b" not in answer.out


def test_one_job_as_json(dsn, five):
    found = cli("jobs", "show", str(five["succeeded"]), "--json", dsn=dsn).json
    assert found["job"]["result"] == "done"
    assert found["job"]["payload"] == {"n": 0}
    [attempt] = found["attempts"]
    assert attempt["status"] == "succeeded"


def test_a_job_that_is_not_there(dsn, five):
    assert cli("jobs", "show", "0198f3a2-7c11-7abc-8000-0123456789ab", dsn=dsn).code == 5
    answer = cli("jobs", "show", "0198f3a2", dsn=dsn)
    assert answer.code == 5
    assert "no job's id begins with" in answer.err
    assert cli("jobs", "show", "xyz", dsn=dsn).code == 2


def test_an_ambiguous_beginning_lists_the_candidates(dsn, five):
    beginning = str(five["queued"])[:8]
    answer = cli("jobs", "show", beginning, dsn=dsn)
    assert answer.code == 5
    assert str(five["queued"]) in answer.err
