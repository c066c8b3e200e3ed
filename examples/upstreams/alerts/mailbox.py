"""A mail server that keeps what it takes, and says no by a plan."""

from __future__ import annotations

import socket
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller


class Mailbox:
    """Listens on 127.0.0.1. `replies`: what it says to the next messages instead of taking them, as `451 busy`."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.replies: list[str] = []
        self._controller: Any = None

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """One message."""
        if self.replies:
            return self.replies.pop(0)
        found = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(found, EmailMessage)
        self.messages.append(found)
        self.recipients.append(list(envelope.rcpt_tos))
        return "250 OK"

    def start(self, port: int = 0) -> str:
        """Begins to listen, on any free port if none is given; the URL for `escalation.smtp_url`."""
        port = port or _free_port()
        self._controller = Controller(self, hostname="127.0.0.1", port=port)
        self._controller.start()
        return f"smtp://127.0.0.1:{port}"

    def stop(self) -> None:
        """Ends it."""
        self._controller.stop()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
