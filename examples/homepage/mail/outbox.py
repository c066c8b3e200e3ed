"""Puts messages up for sending: the row and its job come into being together, or not at all."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.homepage.job_types import JobType
from examples.homepage.mail.masking import one_line
from examples.homepage.statements import Connection, Row, row
from postmill import NewJob, aenqueue
from postmill.text import clean

MOST_TEXT = 100_000
"""Most bytes of a message's text; of a longer one its middle is left out."""

_NOT_DELIVERED = """\
Your message could not be delivered: the mail server of the other side does not take it. It will not be sent again.

This was said by a machine; please do not answer.
"""
_TOO_LARGE = """\
Your message was not passed on, because it is too large. Please send it again with less attached to it.

This was said by a machine; please do not answer.
"""


async def post(conn: AsyncConnection[Any], message: Row) -> UUID | None:
    """Keep a message and enqueue the job that sends it, in the caller's transaction. None: this mail was kept before.

    `message`: recipient_id, kind, subject and body; besides, where it has them, the other columns of `new_message.sql`.
    """
    values: Row = dict.fromkeys(("conversation_id", "sender", "parent_id", "original_message_id")) | {
        "left_out": 0
    }
    values |= message
    values["subject"] = one_line(clean(values["subject"], 1000))
    values["body"] = clean(values["body"], MOST_TEXT)
    made = await row(conn, "new_message", **values)
    if made is None:
        return None
    await aenqueue(conn, relay_job(made["id"]))
    found: UUID = made["id"]
    return found


def relay_job(message: UUID) -> NewJob:
    """The job that sends a message; it has at most one that waits or runs."""
    return NewJob.of(JobType.MESSAGE_RELAY, {"message_id": str(message)}).using(
        key=f"relay:{message}", mode="active"
    )


async def refuse(
    conn: AsyncConnection[Any], message: UUID, reason: str, conversation: UUID | None = None
) -> bool:
    """Note that a message will never arrive, and tell who wrote it, once. False: that was noted before, or there is none.

    `conversation`: the message counts only if it is of this one.
    """
    refused = await row(
        conn, "message_refused", id=message, reason=clean(reason, 1000), conversation_id=conversation
    )
    if refused is None:
        return False
    if refused["sender_id"] is not None:
        await tell(conn, refused, refused["sender_id"], _NOT_DELIVERED)
    return True


async def too_large(conn: AsyncConnection[Any], about: Row, sender: UUID) -> None:
    """Tell who wrote a mail that it is too large. `about`: conversation_id, id (of what it answers) and subject."""
    await tell(conn, about, sender, _TOO_LARGE)


async def tell(conn: AsyncConnection[Any], about: Row, member: UUID, text: str) -> None:
    """A notice to a member, in the thread of the message that it is about."""
    await post(
        conn,
        {
            "conversation_id": about["conversation_id"],
            "recipient_id": member,
            "parent_id": about["id"],
            "kind": "notice",
            "subject": f"Not delivered: {about['subject']}",
            "body": text,
        },
    )


async def status_of(conn: Connection, message: UUID) -> str | None:
    """`waiting`, `sent` or `refused`; None where there is no such message."""
    found = await row(conn, "message_status", id=message)
    return None if found is None else str(found["status"])
