"""`postmill jobs show`."""

import re

from postmill.cli.ids import SHORT
from postmill.cli.reasons import LONGEST
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


def test_what_its_processes_printed(dsn, stage):
    stage.register("resize")
    stage.open("resize")
    id = stage.enqueue("resize")
    stage.claim()
    stage.bury(id, outputs=("a" * LONGEST + "\x1b[2Jthe last line\n", "no space left\n"))
    lines = cli("jobs", "show", str(id), dsn=dsn).out.splitlines()
    out, err = lines.index("attempt 1, stdout"), lines.index("attempt 1, stderr")
    assert lines[out + 1] == "… 20 characters before this: --json"
    assert "".join(lines[out + 2 : err]).endswith("a\\x1b[2Jthe last line")
    assert lines[err + 1 :] == ["no space left"]
    assert "(exit code 1)" in "\n".join(lines[:out])


def test_a_handlers_own_reason_is_said_once(dsn, stage):
    stage.register("greet")
    stage.open("greet")
    told, other = stage.enqueue("greet"), stage.enqueue("greet")
    stage.claim()
    stage.bury(
        told, "nobody is there", "", reason="nobody is there", error_class="postmill.domain.signals.Bury"
    )
    stage.bury(other, "permanent_error", "", reason="permanent_error", error_class="ValueError")
    for words in (("jobs", "show"), ("dead", "show")):
        assert cli(*words, str(told), dsn=dsn).out.count("nobody is there") == 1
        assert "ValueError: permanent_error" in cli(*words, str(other), dsn=dsn).out
    for words in (("jobs", "list"), ("dead", "list")):
        assert cli(*words, dsn=dsn).out.count("nobody is there") == 1
    cli("dead", "discard", str(told), "--reason", "nobody asks for it", dsn=dsn)
    closed = cli("jobs", "show", str(told), dsn=dsn).out
    assert "nobody asks for it" in closed
    assert "signals.Bury: nobody is there" in closed


def test_a_replayed_dead_letter_finished_when_it_failed(dsn, stage, pg):
    stage.register("greet")
    stage.open("greet")
    id = stage.enqueue("greet")
    stage.claim()
    stage.bury(id)
    pg.execute("update postmill.attempt set started_at = started_at - interval '3 min', finished_at = finished_at -"
               " interval '3 min'")  # fmt: skip
    cli("dead", "replay", str(id), dsn=dsn)
    shown = cli("jobs", "show", str(id), dsn=dsn).out
    assert re.search(r"finished +\S+ \S+ +\(3 min( \d+ s)? ago\)", shown)
    assert re.search(r"took +5\.0 ms", shown)
    assert "replayed as" in shown
    assert re.search(
        r"dead_letter .* 3 min( \d+ s)? ago", cli("jobs", "list", "--status", "dead_letter", dsn=dsn).out
    )
    row = pg.execute("select finished_at = (select finished_at from postmill.attempt) from postmill.jobs where id = %s",
                     [id]).fetchone()  # fmt: skip
    assert row == (True,)


def test_a_job_that_waits_where_its_type_is_not_at_home_any_more(dsn, stage):
    stage.register("greet")
    id = stage.enqueue("greet")
    assert "belongs to" not in cli("jobs", "show", str(id), dsn=dsn).out
    stage.register("greet", queue="mail")
    shown = cli("jobs", "show", str(id), dsn=dsn).out
    assert "its type belongs to mail; move what waits: postmill queues move greet" in shown
