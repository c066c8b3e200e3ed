"""PagerDuty: Events API v2. An incident is one alert there, whoever tells of it how often, by its dedup_key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from postmill.alerts.posting import Poster
from postmill.alerts.wording import Wording
from postmill.store.notifications import Notice

EVENTS = "https://events.pagerduty.com/v2/enqueue"


class PagerDuty:
    """Trigger, acknowledge and resolve."""

    sums_up: ClassVar[bool] = False

    def __init__(self, name: str, key: str, wording: Wording, *, url: str | None, timeout: float) -> None:
        self._key = key
        self._wording = wording
        self._url = url or EVENTS
        self._poster = Poster(name, timeout)

    async def send(self, notices: Sequence[Notice]) -> None:
        """One event."""
        (notice,) = notices
        await self._poster.post(self._url, content=orjson.dumps(self.event(notice)))

    def event(self, notice: Notice) -> dict[str, Any]:
        """The event as the service takes it."""
        made: dict[str, Any] = {
            "routing_key": self._key,
            "event_action": notice.event,
            "dedup_key": f"postmill-{notice.incident_id}",
        }
        if notice.event == "trigger":
            facts = self._wording.facts(notice)
            made["payload"] = {
                "summary": self._wording.subject(notice),
                "source": notice.queue or "postmill",
                "severity": notice.severity,
                "timestamp": notice.opened_at.isoformat(),
                "component": notice.job_type,
                "group": notice.queue,
                "class": notice.kind,
                "custom_details": facts,
            }
            url = self._wording.url(notice)
            if url is not None:
                made["links"] = [{"href": url, "text": "the job"}]
            made["client"] = "Postmill"
        return made

    async def close(self) -> None:
        """Closes its connections."""
        await self._poster.close()
