"""One message to one person, and what a provider may say to it. No error names an address: errors are kept and shown."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


@dataclass(frozen=True, slots=True)
class Message:
    """`mark` is the same for every attempt to send it; providers that can tell repetitions are given it."""

    address: str
    subject: str
    text: str
    mark: str


class Undeliverable(Exception):
    """It will never be delivered: a number, mailbox or device that does not exist."""

    retryable = False


class NotNow(Exception):
    """It may go another time. `retry_after` is the header's text, where the provider says when."""

    retryable = True

    def __init__(self, message: str, *, retry_after: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def taken(channel: str, answer: httpx.Response) -> None:
    """Raises NotNow or Undeliverable unless the provider took the message."""
    status = answer.status_code
    if answer.is_success:
        return
    if status in (408, 425, 429) or status >= 500:
        raise NotNow(f"{channel}: answered {status}", retry_after=answer.headers.get("Retry-After"))
    raise Undeliverable(f"{channel}: refused with {status}")
