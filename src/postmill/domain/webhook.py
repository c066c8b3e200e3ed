"""Inbound webhooks as Standard Webhooks 1.0 has them: secrets, and the headers of a signed message."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

from postmill.domain.errors import PostmillError

PREFIX = "whsec_"
SECRET_BYTES = 32

_ID = re.compile(r"[!-~]{1,200}")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
MOST_SIGNATURES = 10


class WebhookRefused(PostmillError):
    """A message is not signed as it must be. What is wrong is told, but nothing that helps to forge one."""


@dataclass(frozen=True, slots=True)
class Signed:
    """What the headers of a message say; whether it is true, the database checks, which alone has the secret."""

    message_id: str
    timestamp: int
    signatures: tuple[bytes, ...]


def written_secret(secret: bytes) -> str:
    """A secret as its sender is given it: `whsec_` and base64."""
    return PREFIX + base64.b64encode(secret).decode()


def read_headers(headers: Mapping[str, str]) -> Signed:
    """The message id, timestamp and signatures of version 1.

    Args:
        headers: with names in lower case.

    Raises:
        WebhookRefused: one is missing or malformed.
    """
    id, seconds = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not _ID.fullmatch(id) or "." in id:
        raise WebhookRefused("webhook-id: 1 to 200 printable ASCII characters without dots")
    if not _SECONDS.fullmatch(seconds):
        raise WebhookRefused("webhook-timestamp: seconds since 1970")
    found = []
    for part in headers.get("webhook-signature", "").split(" ")[:MOST_SIGNATURES]:
        version, _, text = part.partition(",")
        if version == "v1":
            try:
                found.append(base64.b64decode(text, validate=True))
            except (binascii.Error, ValueError):
                continue
    if not found:
        raise WebhookRefused("webhook-signature: v1, a comma and base64; several are parted by blanks")
    return Signed(id, int(seconds), tuple(found))
