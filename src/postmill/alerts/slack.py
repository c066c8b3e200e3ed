"""Slack: an incoming webhook, which belongs to one channel there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import orjson

from postmill.alerts.posting import Poster
from postmill.alerts.wording import Wording
from postmill.store.notifications import Notice

_LONGEST = 35_000  # characters that Slack takes in one message are 40,000


class Slack:
    """A message for each notice, or one summary of several."""

    sums_up: ClassVar[bool] = True

    def __init__(self, name: str, url: str, wording: Wording, *, timeout: float) -> None:
        self._url = url
        self._wording = wording
        self._poster = Poster(name, timeout)

    async def send(self, notices: Sequence[Notice]) -> None:
        """One message."""
        text = escaped(self._wording.text(notices))[:_LONGEST]
        await self._poster.post(self._url, content=orjson.dumps({"text": text}))

    async def close(self) -> None:
        """Closes its connections."""
        await self._poster.close()


def escaped(text: str) -> str:
    """Text in which nothing is a mention or a link of Slack's own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
