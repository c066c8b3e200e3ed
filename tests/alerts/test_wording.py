"""What messages say, what they hide, and what an unkind text cannot do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from examples.upstreams.alerts import judges
from postmill.alerts.mail import Mail
from postmill.alerts.pagerduty import PagerDuty
from postmill.alerts.slack import Slack, escaped
from postmill.alerts.wording import Wording
from postmill.store.notifications import Notice

NOTICE = Notice(
    UUID(int=1), UUID(int=2), "trigger", 0, 1, None, 0, "job_exhausted", "capture:TimeoutError", "critical",
    "capture was given up: TimeoutError: no answer", {"error": "no answer, password=hunter2"}, "SCREENSHOT", "capture",
    "ada", 3, 3, 1, datetime(2026, 5, 4, 16, tzinfo=UTC), None, None, None, UUID(int=7), "look at the page",
    {"url": "https://example.org/", "api_key": "hunter2", "note": "hunter2", "sizes": [1, 2]}, ("note",),
)  # fmt: skip
WORDING = Wording("https://jobs.example.org/jobs/{id}")


def test_everything_that_helps_and_nothing_that_is_secret() -> None:
    facts = WORDING.facts(NOTICE)
    assert facts["job"] == f"https://jobs.example.org/jobs/{UUID(int=7)}"
    assert (facts["url"], facts["sizes"], facts["do"]) == (
        "https://example.org/",
        "[1, 2]",
        "look at the page",
    )
    assert (facts["since"], facts["how often"]) == ("2026-05-04 16:00:00 UTC", "3 times, 3 jobs")
    assert facts["api_key"] == facts["note"] == "[redacted]"
    assert "hunter2" not in WORDING.body(NOTICE)
    assert WORDING.facts(replace(NOTICE, tries=1))["sent again"] == "the service did not confirm it before"
    assert WORDING.subject(replace(NOTICE, event="resolve")).startswith("[critical] over: capture")
    back = replace(NOTICE, reopened=2)
    assert WORDING.subject(back).startswith("[critical] again: capture")
    assert (WORDING.facts(back)["came back"], "came back" in facts) == ("2 times", False)
    summary = WORDING.summary([NOTICE, replace(NOTICE, job_id=None, title="other")])
    assert summary.splitlines()[0] == "2 notifications in one message:"
    assert summary.splitlines()[2] == "- [critical] other"
    assert Wording(None).facts(NOTICE)["job"] == str(UUID(int=7))


def test_texts_from_elsewhere_do_not_act() -> None:
    assert escaped("<!channel> & <https://evil|click>") == "&lt;!channel&gt; &amp; &lt;https://evil|click&gt;"
    mail = Mail("mail", ["a@example.org"], "p@example.org", "smtp://localhost", WORDING, timeout=1)
    message = mail.message([replace(NOTICE, title="a\r\nBcc: all@example.org")])
    assert message["Bcc"] is None
    assert message["Subject"].endswith("Bcc: all@example.org")
    assert message["References"] == f"<{UUID(int=2)}@postmill>"


@pytest.mark.parametrize("event", ["trigger", "acknowledge", "resolve"])
def test_events_that_pagerduty_takes(event: str) -> None:
    pager = PagerDuty("pager", "k", WORDING, url=None, timeout=1)
    made = pager.event(replace(NOTICE, event=event, title="x" * 5000))
    assert judges.pagerduty("/v2/enqueue", made)[0] == 202
    assert made["dedup_key"] == f"postmill-{UUID(int=2)}"


def test_slack_takes_the_longest_summary() -> None:
    slack = Slack("ops", "https://s", WORDING, timeout=1)
    notices = [replace(NOTICE, title="&" * 5000)] * 25
    assert judges.slack("/services/x", {"text": escaped(slack._wording.text(notices))[:35_000]})[0] == 200
