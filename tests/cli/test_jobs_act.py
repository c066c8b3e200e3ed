"""`postmill jobs cancel | retry | register`."""

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


def test_register(dsn, here):
    (here / "shop_jobs.py").write_text(
        "from postmill import job\n@job(queue='mail')\ndef send(to: str) -> None: ...\n"
    )
    assert cli("jobs", "register", "shop_jobs.py", "--json", dsn=dsn).json == [
        {"job_type": "send", "queue": "mail", "status": "created"}
    ]
    assert "unchanged" in cli("jobs", "register", "shop_jobs.py", dsn=dsn).out
    assert cli("enqueue", "send", "to=a", dsn=dsn).code == 0
