"""Makes the mail of a message: what it says of who writes, to whom, and what it answers."""

from __future__ import annotations

from datetime import UTC
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

from examples.homepage.mail.masking import hide_addresses, one_line
from examples.homepage.mail.settings import MailSettings
from examples.homepage.statements import Row

RELAY_MARK = "X-Village-Relay"
"""A header of all that we send. What comes in with it has gone round in a circle."""

_SITE = "Village Marketplace"
# A Message-ID is never broken over lines: some are longer than the usual 78 characters, and would be encoded beyond use.
_POLICY = SMTP.clone(max_line_length=998)


def message_id(message: Any, settings: MailSettings) -> str:
    """Of a message's id: the same at every attempt, so that a second copy is known as one."""
    return f"<{message}@{settings.relay_domain}>"


def compose(message: Row, ancestors: list[Row], settings: MailSettings) -> EmailMessage:
    """The mail of a row of `claim_message.sql`. Raises ValueError for an address that would break a header."""
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = mail["Reply-To"] = _writer(message, settings)
    mail["To"] = Address(addr_spec=message["recipient_email"])
    mail["Subject"] = one_line(_hidden(message["subject"], message, settings)) or "(no subject)"
    mail["Date"] = message["created_at"].astimezone(UTC)
    mail["Message-ID"] = message_id(message["id"], settings)
    known = [_as_known(ancestor, message, settings) for ancestor in ancestors]
    if known:
        mail["In-Reply-To"] = known[-1]
        mail["References"] = " ".join(known)
    mail[RELAY_MARK] = "1"
    if message["sender"] is None:
        mail["Auto-Submitted"] = "auto-replied" if message["kind"] == "notice" else "auto-generated"
    mail.set_content(_body(message, settings), charset="utf-8", cte="quoted-printable")
    return mail


def envelope_sender(message: Row, settings: MailSettings) -> str:
    """Where a bounce goes: to the conversation. One about a notice goes nowhere, or it could bring about the next."""
    if message["kind"] == "notice":
        return ""
    return f"{message['sender_mask']}@{settings.relay_domain}" if message["sender_mask"] else settings.sender


def _writer(message: Row, settings: MailSettings) -> Address:
    if message["sender"] is None:
        return Address(_SITE, addr_spec=settings.sender)
    name = one_line(_hidden(message["sender_name"], message, settings), 60)
    return Address(f"{name} via {_SITE}", message["sender_mask"], settings.relay_domain)


def _as_known(ancestor: Row, message: Row, settings: MailSettings) -> str:
    """An earlier message by the Message-ID that the recipient knows: of their own mails their own, else ours."""
    own = ancestor["sender"] == message["recipient_side"]
    if own and ancestor["original_message_id"]:
        return one_line(ancestor["original_message_id"], 300)
    return message_id(ancestor["id"], settings)


def _body(message: Row, settings: MailSettings) -> str:
    text: str = _hidden(message["body"], message, settings)
    if message["left_out"]:
        text += f"\n\n[{message['left_out']} attached, and not passed on: files can tell who made them]"
    return text.rstrip("\n") + "\n"


def _hidden(text: str, message: Row, settings: MailSettings) -> str:
    return hide_addresses(text, message["real_addresses"], settings.relay_domain)
