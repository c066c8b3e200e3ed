"""`INBOUND_EMAIL`: looks every minute for answers to what the marketplace has sent, and passes them on."""

from __future__ import annotations

import asyncio

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.mail.imap import Mailbox
from examples.homepage.mail.poll import poll
from examples.homepage.mail.settings import mail_settings
from examples.homepage.resources import database
from postmill import Context, Idempotency, Mode


@handles(
    JobType.INBOUND_EMAIL,
    timeout=600,
    # While one run waits for its next attempt the schedule makes no others.
    idempotency=Idempotency(Mode.ACTIVE, key="inbound-email"),
    action="Is the mailbox of MAIL_IMAP_URL there, and does it let us in?",
)
async def InboundEmailHandler(ctx: Context) -> dict[str, int]:
    """Takes in new mails; how many of which disposition. Without a mailbox in the settings there are none."""
    settings = mail_settings()
    if settings.imap_url is None:
        return {}
    mailbox = Mailbox(settings)
    try:
        await asyncio.to_thread(mailbox.open)
        async with ctx.resource(database).connection() as conn:
            return await poll(ctx, conn, mailbox, settings)
    finally:
        await asyncio.to_thread(mailbox.close)


[InboundEmailScheduler] = schedules(JobType.INBOUND_EMAIL, InboundEmailHandler)
