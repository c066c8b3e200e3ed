"""A database that looks lived in: jobs of three tenants run by a real worker, failures, limits, acts, and an hour before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from postmill import Context, Fail, NewJob, Queue, job
from postmill.bind import adrive
from postmill.client.asynchronous import AsyncClient
from postmill.domain.access import Role
from postmill.operate import budgets, commands, triggers
from postmill.operate.keys import create_key
from postmill.operate.tenants import create_tenant
from tests.support.databases import Database
from tests.support.workers import until, working

MAILERS = Queue("mailers", sla=60.0, owner="Ada", contact="ada@example.org")
BILLING = Queue("billing", sla=300.0, owner="Bob")
WEBHOOKS = Queue("webhooks", sla=30.0)
REPORTS = Queue("reports")

SLOTS = {"mailers": 10, "billing": 4, "webhooks": 4, "reports": 4}
TENANTS = ("acme", "globex", "initech")

HOUR = Path(__file__).with_name("hour.sql")


@asynccontextmanager
async def living(
    database: Database, owner: AsyncConnection[Any], *, jobs: int = 12
) -> AsyncIterator[dict[str, UUID]]:
    """Fills it, and goes on with a report in work; the tenants' ids by their slugs.

    Args:
        jobs: of each type and tenant.
    """
    release = asyncio.Event()

    @job("SendEmail", queue=MAILERS)
    async def send_email(ctx: Context, to: str, subject: str = "Hello") -> dict[str, str]:
        ctx.progress(1, 2, "connecting")
        return {"to": to, "status": "sent"}

    @job("ChargeInvoice", queue=BILLING, max_attempts=1)
    async def charge_invoice(ctx: Context, invoice: int) -> None:
        raise TimeoutError(f"the payment service did not answer for invoice {invoice}")

    @job("DeliverWebhook", queue=WEBHOOKS)
    async def deliver_webhook(ctx: Context, url: str) -> None:
        if url.endswith("gone"):
            raise Fail("410 Gone")
        raise ConnectionError("connection refused")

    @job("BuildReport", queue=REPORTS)
    async def build_report(ctx: Context, month: str) -> None:
        ctx.progress(40, 100, f"reading {month}")
        await release.wait()

    @job("Nightly", queue=REPORTS)
    async def nightly(ctx: Context, day: str = "") -> None: ...

    ids = {slug: (await adrive(owner, create_tenant(slug, name=slug.title()))).id for slug in TENANTS}
    types = (send_email, charge_invoice, deliver_webhook, build_report, nightly)
    async with AsyncClient(database.dsn) as client, working(database.dsn, *types, queues=SLOTS):
        made: list[NewJob] = []
        for tenant in ids.values():
            for n in range(jobs):
                made.append(send_email.using(tenant=tenant).new(f"user{n}@example.org"))
                made.append(charge_invoice.using(tenant=tenant).new(4000 + n))
            made += [
                deliver_webhook.using(tenant=tenant).new("https://example.org/hook"),
                deliver_webhook.using(tenant=tenant).new("https://example.org/gone"),
                build_report.using(tenant=tenant).new("2026-10"),
                nightly.using(tenant=tenant, delay=10_800).new("2026-11-29"),
            ]
        await client.enqueue_many(made)
        await until(lambda: _settled(owner, len(TENANTS) * (2 * jobs + 1)), 60)
        await _acts(owner, ids)
        await until(lambda: _counted(owner, len(TENANTS) * jobs), 60)
        await owner.execute(HOUR.read_bytes())
        try:
            yield ids
        finally:
            release.set()


async def _settled(owner: AsyncConnection[Any], n: int) -> bool:
    row = await (
        await owner.execute(
            "select (select count(*) from postmill.outcome) + (select count(*) from postmill.dead_letter)"
        )
    ).fetchone()
    return row is not None and row[0] >= n


async def _counted(owner: AsyncConnection[Any], n: int) -> bool:
    row = await (await owner.execute("select coalesce(max(count), 0) from postmill.error_group")).fetchone()
    return row is not None and row[0] >= n


async def _acts(owner: AsyncConnection[Any], ids: dict[str, UUID]) -> None:
    """What people did and set."""
    fields = {"label": "Nightly report", "trigger_type": "schedule", "cron_expr": "0 8 * * 1-5", "timezone": "Europe/Berlin",
              "definition_key": "Nightly", "payload_template": {"day": "2026-11-28"}}  # fmt: skip
    event = {"label": "Mail on signup", "trigger_type": "event", "event_name": "user.signed_up", "definition_key": "SendEmail",
             "payload_template": {"to": "{{ event.mail }}"}}  # fmt: skip
    for tenant in ids.values():
        await adrive(owner, triggers.create(fields, tenant=tenant))
        await adrive(owner, triggers.create(event, tenant=tenant))
    await adrive(owner, commands.pause("webhooks", reason="the receiver is being moved"))
    await adrive(owner, budgets.set_budget("llm", tenant="acme", limit="50"))
    await adrive(owner, budgets.correct("llm", "41.50", reason="booked by hand", tenant="acme"))
    await adrive(owner, create_key("deploy", Role.OPERATOR, tenant="acme"))
    await owner.execute(
        "select postmill.raise_incident('dead_letters', 'ChargeInvoice', 'critical', 'ChargeInvoice: 36 dead letters',"
        " '{}', p_queue => 'billing', p_job_type => 'ChargeInvoice')"
    )
