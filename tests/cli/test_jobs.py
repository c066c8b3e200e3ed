import pytest

from tests.cli.support import cli


def test_an_empty_list_says_what_to_do(dsn, here):
    answer = cli("jobs", "list", dsn=dsn)
    assert answer.code == 0
    assert "no jobs yet" in answer.out
    assert "postmill enqueue" in answer.err
    assert cli("jobs", "list", "--status", "failed", dsn=dsn).out == "no such jobs\n"
    assert cli("jobs", "list", "--json", dsn=dsn).json == {"jobs": [], "before": None}


def test_the_list_shows_each_state(dsn, five):
    answer = cli("jobs", "list", dsn=dsn)
    assert answer.code == 0
    for state, id in five.items():
        [line] = [line for line in answer.out.splitlines() if str(id) in line]
        assert state in line
    assert "\x1b" not in answer.out
    assert "max_retries_exceeded: ValueError: no \\x1b[31mluck" in answer.out


@pytest.mark.parametrize("state", ["succeeded", "dead_letter", "scheduled", "running", "queued"])
def test_the_list_by_state(dsn, five, state):
    found = cli("jobs", "list", "--status", state, "--json", dsn=dsn).json["jobs"]
    assert [job["id"] for job in found] == [str(five[state])]
    assert found[0]["status"] == state


def test_the_list_by_type_and_queue(dsn, five):
    assert len(cli("jobs", "list", "--type", "greet", "--json", dsn=dsn).json["jobs"]) == 4
    assert len(cli("jobs", "list", "--queue", "LOW", "--json", dsn=dsn).json["jobs"]) == 1
    assert cli("jobs", "list", "--type", "gret", dsn=dsn).code == 5
    answer = cli("jobs", "list", "--queue", "lwo", dsn=dsn)
    assert answer.code == 5
    assert "did you mean 'low'" in answer.err


def test_pages_follow_each_other(dsn, five):
    seen = []
    before: list[str] = []
    while True:
        page = cli("jobs", "list", "-n", "2", "--json", *before, dsn=dsn).json
        seen += [job["id"] for job in page["jobs"]]
        if page["before"] is None:
            break
        before = ["--before", page["before"]]
    assert sorted(seen) == sorted(map(str, five.values()))
