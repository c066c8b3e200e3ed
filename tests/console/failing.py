"""Failures as workers report them: one cause in two tenants, on one host of two and in one version of two."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from postmill.bind import adrive
from postmill.operate.definitions import create, edit
from tests.support.api import Api

HOSTILE = (
    """<script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3)' {{7*7}} {% raw %}"""
)

STACK = """Traceback (most recent call last):
  File "/app/billing/charge.py", line 42, in charge
    bank.book(invoice)
  File "/usr/lib/python3/site-packages/bank/client.py", line 9, in book
    raise TimeoutError(url)
TimeoutError: no answer within 30 s
"""

SCHEMA = {
    "type": "object",
    "required": ["invoice"],
    "properties": {
        "invoice": {"type": "integer", "minimum": 1, "description": "Its number."},
        "currency": {"type": "string", "enum": ["EUR", "USD"]},
        "note": {"type": "string"},
        "lines": {"type": "array"},
        "api_key": {"type": "string"},
    },
}


@dataclass
class Failing:
    """What there is: the group, letters by tenant, and the job type."""

    group: str
    letters: dict[str, list[UUID]]
    hostile: UUID
    expired: UUID


async def failing(api: Api) -> Failing:
    """Fills the database: ChargeInvoice, of which version 2 fails on host c; and a letter whose every text is hostile."""
    conn = api.owner
    made = await adrive(
        conn, create({"key": "ChargeInvoice", "kind": "http", "queue": "billing", "arg_schema": SCHEMA})
    )
    await adrive(conn, edit(made.id, {"max_attempts": 5}))
    await api.define(HOSTILE[:60])
    holders = {}
    for host, version in (("b", 1), ("c", 2)):
        holders[host] = uuid4()
        await conn.execute(
            "select postmill.open_session(%s, 3600, %s, %s, 7, '1', '{billing}', '{}', '{}', %s)",
            [holders[host], f"w-{host}", host, json.dumps({"definitions": {"ChargeInvoice": str(version)}})],
        )
    await conn.execute(
        "update postmill.worker set job_types = '{ChargeInvoice}',"
        " build = case hostname when 'c' then 'build-42' else 'build-41' end"
    )
    letters: dict[str, list[UUID]] = {}
    for slug, n in (("acme", 3), ("globex", 2)):
        tenant = await api.tenant(slug)
        letters[slug] = [
            await _ended(api, "ChargeInvoice", tenant, holders["c"], dead=True, n=i) for i in range(n)
        ]
        for i in range(4):
            await _ended(api, "ChargeInvoice", tenant, holders["b"], dead=False, n=100 + i)
    acme = await api.tenant("acme")
    hostile = await _ended(api, HOSTILE[:60], acme, holders["c"], dead=True, n=1, text=HOSTILE)
    expired = await _ended(api, "ChargeInvoice", acme, holders["c"], dead=True, n=7, group=False)
    await conn.execute("select postmill.fold_error_groups(1000)")
    await conn.execute("select postmill.fold_rollups(1000)")
    [(group,)] = await api.rows("select id from postmill.error_group where job_type = 'ChargeInvoice'")
    return Failing(group, letters, hostile, expired)


async def _ended(
    api: Api,
    job_type: str,
    tenant: UUID,
    holder: UUID,
    *,
    dead: bool,
    n: int,
    text: str | None = None,
    group: bool = True,
) -> UUID:
    conn = api.owner
    payload: dict[str, Any] = {"invoice": n + 1, "currency": "USD" if dead else "EUR", "api_key": "s3cret"}
    if text is not None:
        payload = {text: text}
    row = await (
        await conn.execute(
            "select postmill.enqueue(%s, %s, tenant => %s)", [job_type, json.dumps(payload), tenant]
        )
    ).fetchone()
    assert row is not None
    id: UUID = row[0]
    args = [id, holder, tenant]
    await conn.execute("delete from postmill.ready where id = %s", [id])
    if not dead:
        await conn.execute(
            "insert into postmill.outcome (job_id, holder, tenant_id, status, finished_at, attempt, run, lost, attempt_status,"
            " started_at) values (%s, %s, %s, 'succeeded', postmill.now(), 1, 1, 0, 'succeeded', postmill.now())",
            args,
        )
        kind, outcome = None, "succeeded"
    else:
        kind, outcome = text or "TimeoutError", "dead_letter"
        message = text or "no answer within 30 s"
        [(fp,)] = await api.rows(
            "select postmill.error_group_id(%s, %s, %s, %s)", job_type, kind, message, "billing:charge"
        )
        own = fp if group else None
        stack = STACK if text is None else f"{STACK}{text}"
        shown = (kind, message, stack) if group else (None, None, None)
        await conn.execute(
            "insert into postmill.attempt (job_id, holder, tenant_id, attempt, run, claim_no, started_at, finished_at, status,"
            " error_class, error_message, stack, error_group) values (%s, %s, %s, 1, 1, 1, postmill.now(), postmill.now(),"
            " 'failed', %s, %s, %s, %s)",
            [*args, *shown, own],
        )
        await conn.execute(
            "insert into postmill.dead_letter (id, lane, tenant_id, queue, priority, attempt, run, lost, reason, error_class,"
            " error_message, stack, error_group, attempts, failed_at, last_attempt_at, job_type) values (%s, %s, %s, %s, 100, 1,"
            " 1, 0, %s, %s, %s, %s, %s, 1, postmill.now(), postmill.now(), %s)",
            [
                id,
                tenant,
                tenant,
                text or "billing",
                "max_retries_exceeded" if group else "expired",
                *shown,
                own,
                job_type,
            ],
        )
        if group:
            await conn.execute(
                "insert into postmill.error_group_part (id, tenant_id, job_type, error_class, message, frame, first_at, last_at,"
                " n, job_id, version) values (%s, %s, %s, %s, %s, 'billing:charge', postmill.now(), postmill.now(), 1, %s,"
                " postmill.version_run(%s, %s))",
                [fp, tenant, job_type, kind, message, id, holder, job_type],
            )
    await conn.execute(
        "select postmill.count_end(%s, 'billing', %s, %s, 1, 1, 1)", [tenant, job_type, outcome]
    )
    return id


async def ran_closed(api: Api, world: Failing) -> tuple[int, int]:
    """How many failures are compared, and of how many the build is known, where a letter was closed: as it were."""
    async with api.owner.transaction(force_rollback=True):
        await api.rows("select postmill.close_letter(%s, 'dead_letter', null)", world.letters["acme"][0])
        counts = (
            "select count(*) filter (where failed), count(*) filter (where failed and build = 'build-42')"
        )
        [(failed, known)] = await api.rows(
            f"{counts} from postmill.read_error_samples(%s, 'ChargeInvoice')", world.group
        )
    assert failed > 0
    return failed, known
