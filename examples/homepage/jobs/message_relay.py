"""`MESSAGE_RELAY`: sends one message of the marketplace, with both sides' addresses masked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from examples.homepage.handling import handles
from examples.homepage.job_types import JobType
from examples.homepage.mail import relay
from examples.homepage.mail.outbox import refuse, status_of
from examples.homepage.mail.settings import mail_settings
from examples.homepage.resources import database
from examples.homepage.statements import row
from postmill import Context, Idempotency, Mode, Snooze


@handles(
    JobType.MESSAGE_RELAY,
    timeout=relay.HELD - 30,
    idempotency=Idempotency(Mode.ACTIVE, key="relay:{message_id}"),
    log_fields=("message_id",),
    escalation_fields=("message_id",),
    action="Is the mail server of MAIL_SMTP_URL well? Then replay the job.",
)
async def MessageRelayHandler(ctx: Context, message_id: UUID) -> dict[str, Any]:
    """Sends a message once.

    That it was sent is committed together with the job's success. A worker that dies between the server's answer and that
    commit sends it again, with the same Message-ID, by which mail programs know it as one: SMTP knows no better.
    """
    async with ctx.resource(database).connection() as conn:
        message = await relay.claim(conn, message_id, ctx.job.id)
        if message is None:
            status = await status_of(conn, message_id)
            if status == "waiting":
                raise Snooze(30)  # another job is sending it
            return {"skipped": status or "no such message"}
    # Without a connection in hand: a mail server that takes its time is not to keep other jobs from theirs.
    refused = await relay.deliver(message, mail_settings())
    async with ctx.transaction() as transaction:
        if refused is None:
            await row(transaction, "message_sent", id=message_id)
            transaction.result = told = {"status": "sent"}
        else:
            await refuse(transaction.connection, message_id, refused)
            transaction.result = told = {"status": "refused"}
    if refused is not None:
        ctx.log.warning("message_refused", answer=refused)
    return told
