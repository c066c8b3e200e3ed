"""Decides what becomes of a mail that came in, and keeps it: one transaction of the caller's, for one mail."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.homepage.mail.imap import Fetched
from examples.homepage.mail.incoming import Incoming
from examples.homepage.mail.outbox import post, refuse, too_large
from examples.homepage.mail.settings import MailSettings
from examples.homepage.statements import Row, row

MOST_IN_AN_HOUR = 60
"""Messages of a conversation; people do not write more, and machines that do not say that they are some would."""


async def keep(
    conn: AsyncConnection[Any], place: Row, fetched: Fetched, mail: Incoming | None, settings: MailSettings
) -> str:
    """Keep a mail, and what follows from it; its disposition. `place`: mailbox, uid_validity and uid; no `mail`: unreadable."""
    digest = sha256(fetched.raw).digest()
    if await row(conn, "inbound_known", digest=digest):
        return "repeated"  # as after a new UIDVALIDITY, when all that was processed is there again
    disposition, message = await _dispose(conn, fetched, mail, settings)
    # What was passed on is kept as a message, and what a machine wrote is not worth it.
    apart = disposition in ("unknown_address", "stranger", "flood", "unreadable")
    await row(
        conn,
        "insert_inbound",
        **place,
        digest=digest,
        disposition=disposition,
        message_id=message,
        size=fetched.size,
        raw=fetched.raw if apart else None,
    )
    return disposition


async def _dispose(
    conn: AsyncConnection[Any], fetched: Fetched, mail: Incoming | None, settings: MailSettings
) -> tuple[str, UUID | None]:
    if mail is None:
        return "unreadable", None
    conversation = await _conversation(conn, mail, settings)
    if conversation is None:
        return "unknown_address", None
    # Nobody is written to in answer to a machine, whoever it says that it is.
    if mail.bounce:
        await _bounced(conn, conversation, mail, settings)
        return "bounce", None
    if mail.automatic:
        return "automatic", None
    if mail.sender != conversation["sender_email"].lower():
        return "stranger", None
    traffic = await row(conn, "conversation_traffic", id=conversation["id"])
    if traffic is None or traffic["messages"] >= MOST_IN_AN_HOUR:
        return "flood", None
    parent = await _parent(conn, conversation, mail, settings)
    if not fetched.whole:
        about = {
            "conversation_id": conversation["id"],
            "id": parent and parent["id"],
            "subject": mail.subject,
        }
        await too_large(conn, about, conversation["sender_id"])
        return "too_large", None
    message = await post(conn, _message(conversation, parent, mail))
    return ("repeated" if message is None else "relayed"), message


async def _conversation(conn: AsyncConnection[Any], mail: Incoming, settings: MailSettings) -> Row | None:
    ending = "@" + settings.relay_domain.lower()
    for address in mail.recipients:
        if address.endswith(ending):
            found = await row(conn, "conversation_of_mask", mask=address.removesuffix(ending))
            if found is not None:
                return found
    return None


async def _bounced(
    conn: AsyncConnection[Any], conversation: Row, mail: Incoming, settings: MailSettings
) -> None:
    failed = _ours(mail.failed or "", settings)
    if failed is not None:
        await refuse(conn, failed, "it came back", conversation["id"])


async def _parent(
    conn: AsyncConnection[Any], conversation: Row, mail: Incoming, settings: MailSettings
) -> Row | None:
    ours = [_ours(answered, settings) for answered in mail.answers]
    return await row(
        conn,
        "parent_message",
        conversation_id=conversation["id"],
        ids=[found for found in ours if found],
        originals=mail.answers,
    )


def _message(conversation: Row, parent: Row | None, mail: Incoming) -> Row:
    return {
        "conversation_id": conversation["id"],
        "sender": conversation["sender"],
        "recipient_id": conversation["recipient_id"],
        "parent_id": parent and parent["id"],
        "kind": "reply",
        "subject": mail.subject or (f"Re: {parent['subject']}" if parent else ""),
        "body": mail.text.body,
        "left_out": mail.text.attachments,
        "original_message_id": mail.message_id,
    }


def _ours(message_id: str, settings: MailSettings) -> UUID | None:
    """The message that a Message-ID of ours stands for."""
    local, _, domain = message_id.strip("<>").partition("@")
    if domain.lower() != settings.relay_domain.lower():
        return None
    try:
        return UUID(local)
    except ValueError:
        return None
