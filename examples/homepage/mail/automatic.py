"""Tells mails of machines from those of people: who answers a machine gets an answer, and so on without end."""

from __future__ import annotations

from email.message import Message

from examples.homepage.mail.decoding import header
from examples.homepage.mail.outgoing import RELAY_MARK

MOST_HOPS = 50
"""Servers that a mail has passed; one that goes in circles passes more."""

_PRECEDENCE = {"bulk", "junk", "list", "auto_reply", "auto-reply"}
_TELLING = (RELAY_MARK, "X-Autoreply", "X-Autorespond", "X-Auto-Reply", "List-Id", "X-Loop")
_MACHINES = ("mailer-daemon@", "postmaster@")


def is_bounce(mail: Message) -> bool:
    """A report on a delivery: its sender is null, a mail system, or its type says so."""
    sender = header(mail, "From").lower()
    return (
        header(mail, "Return-Path").replace(" ", "") == "<>"
        or mail.get_content_type() == "multipart/report"
        or any(name in sender for name in _MACHINES)
    )


def is_automatic(mail: Message) -> bool:
    """Any mail that no person has just written: absence notes, lists, ours, those that go in circles."""
    submitted = header(mail, "Auto-Submitted").split(";")[0].strip().lower()
    return (
        submitted not in ("", "no")
        or header(mail, "Precedence").lower() in _PRECEDENCE
        or any(name in mail for name in _TELLING)
        or len(mail.get_all("Received", [])) > MOST_HOPS
    )
