"""What a notification says: the same on every channel, in plain text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from postmill.domain.redaction import REDACTED, redact, safe_text
from postmill.store.notifications import Notice

_LONGEST = 500
_WORDS = {"trigger": "", "acknowledge": "acknowledged: ", "resolve": "over: "}


class Wording:
    """Makes texts. `link`: the address of a job's page with `{id}` in it; None: jobs are named by their id only."""

    def __init__(self, link: str | None) -> None:
        self._link = link

    def job(self, notice: Notice) -> str | None:
        """The address of the job, or its id."""
        if notice.job_id is None:
            return None
        return str(notice.job_id) if self._link is None else self._link.replace("{id}", str(notice.job_id))

    def url(self, notice: Notice) -> str | None:
        """The address of the job; None where there is none."""
        return None if self._link is None else self.job(notice)

    def subject(self, notice: Notice) -> str:
        """One line."""
        word = "again: " if notice.event == "trigger" and notice.reopened else _WORDS[notice.event]
        return safe_text(f"[{notice.severity}] {word}{notice.title}")[:_LONGEST]

    def facts(self, notice: Notice) -> dict[str, str]:
        """What is to be said besides, by name, in order; nothing secret, and nothing empty."""
        error = notice.facts.get("error")
        found: dict[str, object | None] = {
            "incident": str(notice.incident_id),
            "queue": notice.queue,
            "job type": notice.job_type,
            "tenant": notice.tenant or (f"{notice.tenants} tenants" if notice.tenants > 1 else None),
            "since": at(notice.opened_at),
            "came back": (f"{notice.reopened} time" + "s" * (notice.reopened > 1))
            if notice.reopened
            else None,
            "how often": f"{notice.count} times, {notice.jobs} jobs" if notice.count > 1 else None,
            "job": self.job(notice),
            "error": None if error is None else safe_text(str(error)),
            "do": notice.action or None,
            "acknowledged by": notice.acknowledged_by,
            "ended": None if notice.resolved_at is None else at(notice.resolved_at),
            "note": None if notice.note is None else safe_text(notice.note),
            "instead of": notice.instead_of and f"channel {notice.instead_of}, which does not work",
            "sent again": "the service did not confirm it before" if notice.tries else None,
        }
        told = {name: value for name, value in found.items() if value is not None}
        for name, value in shown_fields(notice).items():
            told[name if name not in told else f"payload {name}"] = value
        return {name: str(value)[:2000] for name, value in told.items()}

    def body(self, notice: Notice) -> str:
        """Subject and facts, a line each."""
        return "\n".join(
            [self.subject(notice), *(f"{name}: {value}" for name, value in self.facts(notice).items())]
        )

    def summary(self, notices: Sequence[Notice]) -> str:
        """Several notices in one text: a line each, and the job of each."""
        lines = [f"{len(notices)} notifications in one message:"]
        for notice in notices:
            job = self.job(notice)
            lines.append(f"- {self.subject(notice)}" + (f" ({job})" if job else ""))
        return "\n".join(lines)

    def text(self, notices: Sequence[Notice]) -> str:
        """One notice in full, several as a summary."""
        return self.body(notices[0]) if len(notices) == 1 else self.summary(notices)


def shown_fields(notice: Notice) -> dict[str, str]:
    """The fields of the payload that the definition names, without secrets."""
    made = {}
    for name, value in (notice.fields or {}).items():
        secret = name in notice.secret_keys
        shown = REDACTED if secret else redact(value, key=name)
        made[name] = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    return made


def at(moment: datetime) -> str:
    """A moment for people, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
