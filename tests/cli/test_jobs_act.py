"""`postmill jobs cancel | retry | prioritize | register`."""

from tests.cli.support import cli


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


def test_prioritize(dsn, five, pg):
    answer = cli(
        "jobs",
        "prioritize",
        str(five["queued"]),
        str(five["scheduled"]),
        "--priority",
        "5",
        "--reason",
        "now",
        dsn=dsn,
    )
    assert answer.code == 0, answer.err
    assert answer.out.count("has priority 5") == 2
    again = cli(
        "jobs", "prioritize", str(five["queued"]), str(five["running"]), "--priority", "5", "--json", dsn=dsn
    )
    assert again.code == 1
    assert {one["status"] for one in again.json} == {"unchanged", "running"}
    log = pg.execute("select reason, after from postmill.audit_log where action = 'jobs.priority'").fetchall()
    assert log == [("now", {"priority": 5})] * 2
    pg.execute(
        'select postmill.register_queues(\'[{"name": "low", "boost_after_seconds": 60, "boost_step": 2,'
        ' "boost_to": 2}]\')'
    )
    pg.execute("select set_config('postmill.clock_offset', '65 s', false)")
    pg.execute("select * from postmill.boost_round(null, null, 10, 10, 10)")
    shown = cli("jobs", "show", str(five["queued"]), dsn=dsn)
    assert "raised from 5 to 3 after waiting 1 min" in shown.out
    document = cli("jobs", "show", str(five["queued"]), "--json", dsn=dsn).json
    assert (document["raised"]["from_priority"], document["raised"]["priority"]) == (5, 3)


def test_a_name_that_a_stored_definition_has_is_not_registered(dsn, here):
    assert cli("definitions", "create", "send", "kind=http", "queue=mail", dsn=dsn).code == 0
    (here / "shop_jobs.py").write_text("from postmill import job\n@job\ndef send(to: str) -> None: ...\n")
    answer = cli("jobs", "register", "shop_jobs.py", dsn=dsn)
    assert answer.code == 2
    assert (
        "job type 'send' cannot be registered: a stored definition of another kind has this name"
        in answer.err
    )


def test_register(dsn, here):
    (here / "shop_jobs.py").write_text(
        "from postmill import job\n@job(queue='mail')\ndef send(to: str) -> None: ...\n"
    )
    assert cli("jobs", "register", "shop_jobs.py", "--json", dsn=dsn).json == [
        {"job_type": "send", "queue": "mail", "status": "created"}
    ]
    assert "unchanged" in cli("jobs", "register", "shop_jobs.py", dsn=dsn).out
    assert cli("enqueue", "send", "to=a", dsn=dsn).code == 0
