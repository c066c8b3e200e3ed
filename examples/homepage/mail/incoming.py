"""Reads a mail as it came in: headers as text, who it is for, what it answers, whether a person wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.utils import getaddresses

from examples.homepage.mail.automatic import is_automatic, is_bounce
from examples.homepage.mail.bounce import failed_message_id
from examples.homepage.mail.decoding import BOUNDED, header, headers
from examples.homepage.mail.parts import Text, text_of

MOST_ADDRESSES = 50
MOST_REFERENCES = 50

_RECIPIENTS = ("Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc")
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,250}>")


class Unreadable(Exception):
    """It cannot be read as a mail."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What is needed of a mail. Texts may hold anything but line ends (`text.body` these, too)."""

    sender: str
    recipients: list[str]
    subject: str
    message_id: str | None
    answers: list[str] = field(default_factory=list)
    """The Message-IDs that it answers."""
    bounce: bool = False
    automatic: bool = False
    failed: str | None = None
    """Of a bounce: the Message-ID of what was not delivered."""
    text: Text = field(default_factory=Text)


def read(raw: bytes) -> Incoming:
    """A mail, or as much of it as there is. It may take a while: not for an event loop.

    Raises Unreadable.
    """
    try:
        return _read(message_from_bytes(raw, policy=BOUNDED))
    # The library has more ways to stumble over a hostile mail than it documents (nesting without end, for one), and one mail
    # must not keep the others from being read.
    except Exception as fault:
        raise Unreadable(f"{type(fault).__name__}: {fault}") from fault


def _read(mail: Message) -> Incoming:
    found = {address.lower() for address in _addresses(mail, "From")}
    bounce = is_bounce(mail)
    return Incoming(
        sender=found.pop() if len(found) == 1 else "",
        recipients=[address.lower() for address in _addresses(mail, *_RECIPIENTS)],
        subject=header(mail, "Subject"),
        message_id=next(iter(_ids(mail, "Message-ID")), None),
        answers=[*_ids(mail, "In-Reply-To"), *reversed(_ids(mail, "References"))][:MOST_REFERENCES],
        bounce=bounce,
        automatic=is_automatic(mail),
        failed=failed_message_id(mail) if bounce else None,
        text=text_of(mail),
    )


def _addresses(mail: Message, *names: str) -> list[str]:
    texts = [text for name in names for text in headers(mail, name)]
    return [address for _, address in getaddresses(texts) if "@" in address][:MOST_ADDRESSES]


def _ids(mail: Message, name: str) -> list[str]:
    return _MESSAGE_ID.findall(" ".join(headers(mail, name)))
