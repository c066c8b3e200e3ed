"""The four ways to people, open for as long as a worker process runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Literal, Self

import httpx

from examples.planner.messages.email import send_email
from examples.planner.messages.in_app import send_in_app
from examples.planner.messages.message import Message
from examples.planner.messages.push import send_push
from examples.planner.messages.sms import send_sms
from examples.planner.settings import Settings

Channel = Literal["email", "sms", "push", "in-app"]
CHANNELS: Mapping[Channel, str] = {"email": "email", "sms": "phone", "push": "device", "in-app": "account"}
"""Each with the column of a collaborator that has the address."""


class Channels:
    """Use it by `async with`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = httpx.AsyncClient(timeout=settings.timeout)

    async def send(self, channel: str, message: Message) -> str:
        """Sends one message; the provider's reference to it. Raises what the channel's function does."""
        if channel == "email":
            return await send_email(self._settings, message)
        http_channel = {"sms": send_sms, "push": send_push, "in-app": send_in_app}[channel]
        return await http_channel(self._http, self._settings, message)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)
