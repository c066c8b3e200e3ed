import pytest

from postmill.cli.ids import SHORT
from tests.cli.support import cli


@pytest.fixture
def five(stage):
    """One job in each of five states, by state."""
    stage.register("greet")
    stage.register("other", queue="low")
    stage.open("greet")
    ids = [stage.enqueue("greet", f'{{"n": {n}}}') for n in range(4)]
    stage.claim()
    stage.succeed(ids[0], '"done"')
    stage.bury(ids[1], "no \x1b[31mluck")
    stage.retry_later(ids[2])
    return {
        "succeeded": ids[0],
        "dead_letter": ids[1],
        "scheduled": ids[2],
        "running": ids[3],
        "queued": stage.enqueue("other"),
    }


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


def test_cancel(dsn, five, pg):
    answer = cli("jobs", "cancel", str(five["queued"]), str(five["running"]), "--reason", "wrong", dsn=dsn)
    assert answer.code == 0
    assert f"{five['queued']}  canceled" in answer.out
    assert "asked to stop" in answer.out
    refused = cli("jobs", "cancel", str(five["succeeded"]), "--json", dsn=dsn)
    assert refused.code == 1
    assert refused.json == [{"id": str(five["succeeded"]), "status": "finished", "new_id": None}]
    assert cli("jobs", "cancel", "0198f3a2-7c11-7abc-8000-0123456789ab", dsn=dsn).code == 5
    shown = cli("jobs", "show", str(five["queued"]), dsn=dsn)
    assert "canceled" in shown.out
    assert "wrong" in shown.out
    assert "asked to stop" in cli("jobs", "show", str(five["running"]), dsn=dsn).out


def test_retry(dsn, five):
    due = cli("jobs", "retry", str(five["scheduled"]), "--json", dsn=dsn)
    assert (due.code, due.json[0]["status"]) == (0, "due")
    again = cli("jobs", "retry", str(five["dead_letter"]), dsn=dsn)
    assert again.code == 0
    assert "runs again as" in again.out
    assert cli("jobs", "retry", str(five["running"]), dsn=dsn).code == 1
    assert cli("jobs", "retry", str(five["succeeded"]), dsn=dsn).code == 1


def test_register(dsn, here):
    (here / "shop_jobs.py").write_text(
        "from postmill import job\n@job(queue='mail')\ndef send(to: str) -> None: ...\n"
    )
    assert cli("jobs", "register", "shop_jobs.py", "--json", dsn=dsn).json == [
        {"job_type": "send", "queue": "mail", "status": "created"}
    ]
    assert "unchanged" in cli("jobs", "register", "shop_jobs.py", dsn=dsn).out
    assert cli("enqueue", "send", "to=a", dsn=dsn).code == 0
