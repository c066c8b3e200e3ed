"""Brings one message on its way."""

from __future__ import annotations

from uuid import UUID

from examples.homepage.mail.outgoing import compose, envelope_sender
from examples.homepage.mail.settings import MailSettings
from examples.homepage.mail.smtp import MailRefused, send
from examples.homepage.statements import Connection, Row, row, rows

HELD = 180
"""Seconds for which the job that sends a message keeps others from it: longer than an attempt may take."""


async def claim(conn: Connection, message: UUID, job: UUID) -> Row | None:
    """The message, which from now on no other job sends, with its `ancestors`. None: it is not there, is done, or is another
    job's."""
    found = await row(conn, "claim_message", id=message, job=job, seconds=HELD)
    return found and found | {"ancestors": await rows(conn, "ancestors", parent_id=found["parent_id"])}


async def deliver(message: Row, settings: MailSettings) -> str | None:
    """Send a claimed message. None: it was taken; else why it never will be. Raises what is worth another attempt."""
    try:
        mail = compose(message, message["ancestors"], settings)
    except ValueError as fault:
        return f"no mail can be made of it: {fault}"
    try:
        await send(mail, envelope_sender(message, settings), message["recipient_email"], settings)
    except MailRefused as refused:
        return str(refused)
    return None
