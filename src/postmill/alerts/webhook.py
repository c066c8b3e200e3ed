"""A webhook: any service that takes signed JSON (Standard Webhooks 1.0, as inbound ones are)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import orjson

from postmill.alerts.posting import Poster
from postmill.alerts.wording import Wording, shown_fields
from postmill.domain.errors import SettingsError
from postmill.domain.webhook import PREFIX
from postmill.store.notifications import Notice


class Webhook:
    """One message for each notice; a message that comes again has the same `webhook-id`."""

    sums_up: ClassVar[bool] = False

    def __init__(self, name: str, url: str, key: str, wording: Wording, *, timeout: float) -> None:
        self._url = url
        self._secret = secret_of(name, key)
        self._wording = wording
        self._poster = Poster(name, timeout)

    async def send(self, notices: Sequence[Notice]) -> None:
        """One message."""
        (notice,) = notices
        content = orjson.dumps(self.message(notice))
        seconds = str(int(time.time()))
        signed = f"{notice.id}.{seconds}.".encode() + content
        signature = base64.b64encode(hmac.digest(self._secret, signed, hashlib.sha256)).decode()
        headers = {
            "webhook-id": str(notice.id),
            "webhook-timestamp": seconds,
            "webhook-signature": f"v1,{signature}",
        }
        await self._poster.post(self._url, content=content, headers=headers)

    def message(self, notice: Notice) -> dict[str, Any]:
        """What is sent."""
        return {
            "type": f"incident.{notice.event}",
            "timestamp": notice.opened_at,
            "data": {
                "incident_id": notice.incident_id,
                "kind": notice.kind,
                "key": notice.key,
                "severity": notice.severity,
                "title": self._wording.subject(notice),
                "queue": notice.queue,
                "job_type": notice.job_type,
                "tenant": notice.tenant,
                "count": notice.count,
                "jobs": notice.jobs,
                "tenants": notice.tenants,
                "reopened": notice.reopened,
                "job_id": notice.job_id,
                "job_url": self._wording.url(notice),
                "fields": shown_fields(notice),
                "action": notice.action,
                "text": self._wording.body(notice),
            },
        }

    async def close(self) -> None:
        """Closes its connections."""
        await self._poster.close()


def secret_of(name: str, key: str) -> bytes:
    """The bytes of a secret such as `whsec_…`. SettingsError for anything else."""
    try:
        return base64.b64decode(key.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise SettingsError(
            f"escalation.channels.{name}.key: expected a secret as Standard Webhooks have it: {PREFIX} and base64"
        ) from None
