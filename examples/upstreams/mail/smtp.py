"""The SMTP side: what `alerts.mailbox` takes, and besides recipients that it does not, and a line that breaks."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from examples.upstreams.alerts.mailbox import Mailbox


class MailServer(Mailbox):
    """`url` is there from `start` on, for MAIL_SMTP_URL.

    `refused`: what it says to a recipient, as `550 5.1.1 nobody of that name`, until it is taken out of there.
    `senders` are those of the envelopes, `""` the null one. `raw` is each mail as it came over the line. `lost`: so many of
    the next mails are taken and nothing is said, as when the connection breaks in between. `deliver` gets each mail taken.
    `open`: while it is not set, each mail waits for its answer; `waiting` are so many.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, str] = {}
        self.senders: list[str] = []
        self.raw: list[bytes] = []
        self.lost = 0
        self.deliver: Any = None
        self.url = ""
        self.open = threading.Event()
        self.open.set()
        self.waiting = 0

    def start(self, port: int = 0) -> str:
        """Begins to listen; the URL for MAIL_SMTP_URL."""
        self.url = super().start(port)
        return self.url

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """One recipient."""
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """One mail."""
        self.waiting += 1
        await asyncio.to_thread(self.open.wait)
        self.waiting -= 1
        answer = await super().handle_DATA(server, session, envelope)
        if not answer.startswith("2"):
            return answer
        self.senders.append((envelope.mail_from or "").removeprefix("<>"))
        self.raw.append(envelope.content)
        if self.deliver is not None:
            self.deliver(envelope.content, envelope.rcpt_tos)
        if self.lost:
            self.lost -= 1
            server.transport.abort()
        return answer
