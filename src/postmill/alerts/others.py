"""Any other service, through Apprise: more than a hundred of them, by its URLs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import apprise

from postmill.alerts.channel import Undelivered
from postmill.alerts.wording import Wording
from postmill.domain.errors import SettingsError
from postmill.store.notifications import Notice


class Others:
    """One message for each notice, or one summary. What exactly went wrong, Apprise does not tell."""

    sums_up: ClassVar[bool] = True

    def __init__(self, name: str, url: str, wording: Wording) -> None:
        self._name = name
        self._wording = wording
        self._service = apprise.Apprise()
        if not self._service.add(url):
            raise SettingsError(f"escalation.channels.{name}.url: Apprise knows no such service")

    async def send(self, notices: Sequence[Notice]) -> None:
        """One message."""
        alone = len(notices) == 1
        title = self._wording.subject(notices[0]) if alone else f"{len(notices)} notifications"
        if not await self._service.async_notify(body=self._wording.text(notices), title=title):
            raise Undelivered(f"{self._name}: Apprise did not deliver it")

    async def close(self) -> None:
        """Nothing is open."""
