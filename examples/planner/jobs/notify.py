"""`notification.deliver`: one message to one person by one channel, at most once for one content and bucket of time."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from examples.planner.messages.message import Message
from examples.planner.messages.templates import written
from examples.planner.policy import Action
from examples.planner.queues import NOTIFICATIONS
from examples.planner.resources import channels
from examples.planner.scope import admitted
from examples.planner.statements import do, row
from postmill import Context, job


@job(
    "notification.deliver",
    queue=NOTIFICATIONS,
    category="notifications",
    strict_envelope=True,
    timeout=60,
    log_fields=("recipient", "template"),
    escalation_fields=("recipient", "template"),
    action="Is the provider well? Then replay. Is the address wrong? Correct the collaborator, then replay. Else discard",
)
async def deliver(
    ctx: Context,
    recipient: str,
    template: str,
    variables: dict[str, str],
    payload_hash: str,
    schedule_bucket: datetime,
) -> dict[str, Any]:
    """Delivers one notification. `recipient` is `<channel>:<collaborator>`: addresses are in no payload and in no log."""
    text = written(template, variables)
    channel, _, person = recipient.partition(":")
    about = {
        "org": ctx.job.tenant_id, "recipient": recipient, "template": template, "payload_hash": payload_hash,
        "bucket": schedule_bucket,
    }  # fmt: skip
    async with admitted(ctx, Action.NOTIFY) as conn:
        if await row(conn, "begin_delivery", **about, job_id=ctx.job.id) is None:
            return {"skipped": "it was sent before"}
        found = await row(conn, "address_of", collaborator=UUID(person), channel=channel)
    if found is None or not found["address"]:
        return {"skipped": f"no address for {channel}"}
    mark = (
        f"{ctx.job.tenant_id.hex[:8]}-{payload_hash[:24]}-{schedule_bucket:%Y%m%d%H}-{UUID(person).hex[:12]}"
    )
    reference = await ctx.resource(channels).send(
        channel, Message(found["address"], text.subject, text.text, mark)
    )
    async with admitted(ctx, Action.NOTIFY) as conn:
        await do(conn, "end_delivery", **about, reference=reference)
    return {"sent": reference}
