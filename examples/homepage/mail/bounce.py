"""Reads delivery reports (RFC 3464)."""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import Message

from examples.homepage.mail.decoding import BOUNDED, header
from examples.homepage.mail.parts import leaves

_ID = re.compile(r"<[^<>\s]{1,250}>")


def failed_message_id(mail: Message) -> str | None:
    """The Message-ID of the mail that was given up; None where the report says that it is late only, or nothing of it."""
    failed, original = False, None
    for part in leaves(mail):
        kind = part.get_content_type()
        if kind == "message/delivery-status":
            failed = failed or any(header(block, "Action").lower() == "failed" for block in _within(part))
        elif kind in ("message/rfc822", "text/rfc822-headers"):
            for inner in _within(part):
                found = _ID.search(header(inner, "Message-ID"))
                original = found[0] if found else original
    return original if failed else None


def _within(part: Message) -> list[Message]:
    if part.is_multipart():
        return [inner for inner in part.get_payload() if isinstance(inner, Message)]
    content = part.get_payload(decode=True)
    return [message_from_bytes(content, policy=BOUNDED)] if isinstance(content, bytes) else []
