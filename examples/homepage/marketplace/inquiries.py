"""A buyer asks about a listing: the beginning of a conversation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from examples.homepage.mail.outbox import MOST_TEXT, post
from examples.homepage.mail.receive import MOST_IN_AN_HOUR
from examples.homepage.statements import row

MOST_SUBJECT = 200


class InquiryRefused(ValueError):
    """What was asked cannot be passed on; the message says why."""


class NotForSale(InquiryRefused):
    """Not (any more), or not to this member."""


class TooMany(InquiryRefused):
    """This conversation has had enough for now."""


async def inquire(
    conn: AsyncConnection[Any], *, listing_id: UUID, buyer_id: UUID, subject: str, text: str
) -> UUID:
    """Put an inquiry up for sending, in the caller's transaction; the id of its message.

    Raises InquiryRefused: for a subject that is more than one line, or too long a text; NotForSale: where nothing is for sale
    (any more), a seller asks about their own, or there is no such member; TooMany.
    """
    if not subject.isprintable() or len(subject) > MOST_SUBJECT:
        raise InquiryRefused(f"a subject is one line of at most {MOST_SUBJECT} characters")
    if not text.strip() or len(text.encode()) > MOST_TEXT or "\0" in text:
        raise InquiryRefused(f"a text has from 1 to {MOST_TEXT} bytes")
    conversation = await row(conn, "open_conversation", listing_id=listing_id, buyer_id=buyer_id)
    if conversation is None:
        raise NotForSale("this listing is not for sale to this member")
    traffic = await row(conn, "conversation_traffic", id=conversation["id"])
    if traffic is None or traffic["messages"] >= MOST_IN_AN_HOUR:
        raise TooMany(f"a conversation has at most {MOST_IN_AN_HOUR} messages in an hour")
    made = await post(
        conn,
        {
            "conversation_id": conversation["id"],
            "sender": "buyer",
            "recipient_id": conversation["seller_id"],
            "kind": "inquiry",
            "subject": subject,
            "body": text,
        },
    )
    assert made is not None  # only mails can come twice
    return made
