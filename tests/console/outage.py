"""A bad night for the pages: a deploy after which jobs fail, a queue that is late, a worker that is gone, a budget."""

from __future__ import annotations

import json
from uuid import UUID

from tests.support.api import Api

HOSTILE = "<script>alert(1)</script>"
GROUP = "00112233445566aa"
MORE = 3
"""Tenants that are hurt beside acme and other."""


async def do(api: Api, text: str, *args: object) -> None:
    """A statement of the owner."""
    await api.owner.execute(text.encode(), args)


async def night(api: Api) -> dict[str, UUID]:
    """Makes it; the ids of the incidents by their kinds."""
    acme, other = await api.tenant("acme"), await api.tenant("other")
    hurt = [acme, other, *[await api.tenant(f"hurt-{n}") for n in range(MORE)]]
    queues = [
        {"name": "billing", "owner": "payments", "sla_seconds": 60, "runbook": "https://wiki.test/billing"},
        {"name": "mail", "sla_seconds": 600},
    ]
    # What settings declare of queues that exist already.
    await do(api, "insert into postmill.queue (name) values ('billing'), ('mail') on conflict do nothing")
    await do(api, "select postmill.register_queues(%s::text::jsonb)", json.dumps(queues))
    for key, queue in (("ChargeInvoice", "billing"), ("SendMail", "mail")):
        await api.define(key, queue=queue)
    await do(
        api,
        "update postmill.job_definition set version = 42, timeout_seconds = 30 where key = 'ChargeInvoice'",
    )
    await do(
        api,
        """insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n, total_sum, total_hist)
           select postmill.minute_of(postmill.now()) - m * interval '1 minute', t.id, 'billing', 'ChargeInvoice',
                  o.outcome, o.n, o.n,
                  case when o.outcome <> 'retried' and o.outcome <> 'enqueued' then
                      (select array_agg(u.h * o.n order by u.i)
                         from unnest(postmill.histogram(o.seconds)) with ordinality as u(h, i)) end
             from generate_series(0, 59) m, unnest(%s::uuid[]) as t(id),
                  (values ('enqueued', 4, 0), ('succeeded', 3, 5), ('dead_letter', 1, 100),
                          ('retried', 2, 0)) o(outcome, n, seconds)""",
        hurt,
    )
    await do(
        api,
        """insert into postmill.rollup_part (minute, tenant_id, queue, job_type, outcome, n)
           select postmill.minute_of(postmill.now()) - interval '7 days' + s * interval '10 minutes', %s, 'billing',
                  'ChargeInvoice', 'dead_letter', 3 from generate_series(-7, 7) s""",
        acme,
    )
    await do(api, "select postmill.fold_rollups(100000)")
    await do(
        api,
        """insert into postmill.error_group (id, job_type, error_class, message, frame, first_seen_at, last_seen_at, count)
           values (%s, 'ChargeInvoice', 'shop.TimeoutError', %s, 'shop:charge', postmill.now(), postmill.now(), 1204)""",
        GROUP,
        f"no answer from {HOSTILE}",
    )
    await do(
        api,
        """insert into postmill.error_group_tenant (id, tenant_id, first_seen_at, last_seen_at, count)
           select %s, t.id, postmill.now(), postmill.now(), 300 from unnest(%s::uuid[]) as t(id)""",
        GROUP,
        [acme, other],
    )
    await do(
        api,
        """insert into postmill.worker (holder, worker_id, hostname, pid, started_at, last_seen_at, queues)
           values (gen_random_uuid(), %s, 'c', 1, postmill.now() - interval '1 hour', postmill.now() - interval '1 minute',
                   '{mail}')""",
        f"w-{HOSTILE}",
    )
    raised = (
        "select postmill.note_incident(%s, %s, %s, %s, %s::text::jsonb, %s, %s, %s,"
        " array(select postmill.new_id() from generate_series(1, %s)))"
    )
    made: dict[str, UUID] = {}

    async def note(kind: str, key: str, severity: str, title: str, facts: object, tenant: UUID | None, queue: str | None,
                   job_type: str | None, n: int) -> None:  # fmt: skip
        args = (kind, key, severity, title, json.dumps(facts), tenant, queue, job_type, n)
        [(made[kind],)] = await api.rows(raised, *args)

    for place, tenant in enumerate(hurt):
        await note("job_exhausted", f"ChargeInvoice:{GROUP}", "critical", f"ChargeInvoice was given up: {HOSTILE}",
                   {"group": GROUP, "error": HOSTILE}, tenant, "billing", "ChargeInvoice", 10 * (MORE + 2 - place))  # fmt: skip
    await note(
        "sla_breach",
        "mail",
        "warning",
        "queue mail is late: P95 of the total is 700 s",
        {},
        None,
        "mail",
        None,
        0,
    )
    await note("stale_workers", "fleet", "critical", "1 worker is silent and not replaced",
               {"workers": [{"worker_id": "w-1"}]}, None, "mail", None, 0)  # fmt: skip
    return made
