"""The system: what the doctor found, who cares for the database, how large everything is, which of our own queries are slow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from starlette.responses import Response

from postmill import connections
from postmill.api.backend import Backend
from postmill.api.routes.doctor import examined, shown
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.access import Action
from postmill.engine.upkeep.archivist import Archivist
from postmill.engine.upkeep.budgets import Budgets
from postmill.engine.upkeep.clearer import Clearer
from postmill.engine.upkeep.deliverer import Deliverer
from postmill.engine.upkeep.monitor import Monitor
from postmill.engine.upkeep.operator import Operator
from postmill.engine.upkeep.promoter import Promoter
from postmill.engine.upkeep.pruner import Pruner
from postmill.engine.upkeep.rescuer import Rescuer
from postmill.engine.upkeep.roller import Roller
from postmill.engine.upkeep.scheduler import Scheduler
from postmill.engine.upkeep.sealer import Sealer
from postmill.engine.upkeep.sweeper import Sweeper
from postmill.operate.doctor.bloat import LARGEST, bloated_by_statistics
from postmill.operate.doctor.examine import CHECKS
from postmill.operate.doctor.fleet import overdue
from postmill.operate.doctor.probe import SLOWEST, ask
from postmill.shapes.doctor import Finding
from postmill.version import VERSION

router = Pages()

QUICK = (
    "server", "listen", "migrations", "clock", "connections", "horizon", "replication", "bloat", "partitions", "archive",
    "workers", "upkeep", "rollups",
)  # fmt: skip
"""Checks of the page; the rest is looked at when somebody asks for all."""

KEPT = 10.0
"""Seconds for which what was found is shown again: a page that is looked at by many asks once."""

_ROUNDS = (
    Archivist, Budgets, Clearer, Deliverer, Monitor, Operator, Promoter, Pruner, Rescuer, Roller, Scheduler, Sealer, Sweeper,
)  # fmt: skip
EVERY = {one.name: one.every for one in _ROUNDS}
"""Seconds between two rounds of upkeep, where nothing hurries them."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found, and when (by this process's clock)."""

    at: float
    level: str
    findings: list[Finding]
    sizes: list[dict[str, Any]]


@router.page("/system", Action.DOCTOR_READ, tenant=False)
async def system(visit: Visit) -> Response:
    """All of it."""
    every = visit.args.text("checks") == "all"
    seen = await _seen(visit, every)
    upkeep = next((one.details for one in seen.findings if one.check == "upkeep"), [])
    settings = visit.asked.backend.settings
    return visit.page(
        "system.html",
        seen=seen,
        every=every,
        rest=[name for name in CHECKS if name not in QUICK],
        rounds=[_round(row) for row in upkeep],
        sizes=[_size(row) for row in seen.sizes],
        slowest=visit.request.app.state.timings.slowest(15),
        facts={
            _("Postmill"): VERSION,
            _("Schema"): settings.schema_name,
            _("Live streams open here"): len(visit.request.app.state.live.streams),
            _("Live listener"): _listener(visit),
        },
        flags={
            "notify": settings.notify,
            "listen_url": settings.listen_url is not None,
            "prepared_statements": settings.prepared_statements,
            "oidc": settings.oidc.issuer is not None,
            "environment": settings.console.environment or "–",
        },
        words={"ok": _("fine"), "warn": _("worth a look"), "fail": _("broken")},
        checks=check_words(),
    )


async def _seen(visit: Visit, every: bool) -> Seen:
    """What the doctor finds, at most some seconds old."""
    state, backend = visit.request.app.state, visit.asked.backend
    key = "system_all" if every else "system"
    async with backend.doctor:
        kept: Seen | None = getattr(state, key, None)
        if kept is None or monotonic() - kept.at > KEPT:
            kept = await asyncio.to_thread(_examined, backend, [] if every else [*QUICK])
            setattr(state, key, kept)
    return kept


def _examined(backend: Backend, only: list[str]) -> Seen:
    report = examined(backend, only)
    with connections.connect(str(backend.settings.dsn), "postmill doctor") as conn, conn.transaction():
        ask(conn, backend.schema, "doctor_time_limit", SLOWEST)
        sizes = ask(conn, backend.schema, "table_sizes", LARGEST)
    return Seen(monotonic(), report.level.value, [shown(one) for one in report.findings], sizes)


def _round(row: dict[str, Any]) -> dict[str, Any]:
    """A round of upkeep: who ran it last, when it is due again."""
    last: datetime | None = row["last_run_at"]
    every = EVERY.get(row["name"])
    return {
        "name": row["name"],
        "at": last,
        "by": None if row["last_run_by"] is None else ":".join(str(row["last_run_by"]).split(":")[:2]),
        "next": None if last is None or every is None else last + timedelta(seconds=every),
        "every": every,
        "late": overdue(row),
    }


def _size(row: dict[str, Any]) -> dict[str, Any]:
    """A table: how much of it is more than its rows should take."""
    heap, expected = int(row["heap"]), row["expected"]
    bloat = None if not expected else max(0.0, 1 - float(expected) / heap) if heap else 0.0
    return {
        **row,
        "bloat": bloat,
        "bloated": bloated_by_statistics(row),
    }


def _listener(visit: Visit) -> str:
    live, settings = visit.request.app.state.live, visit.asked.backend.settings
    if not settings.notify:
        return _("off: browsers poll")
    if live.listening:
        return _("alive")
    return _("down: browsers poll meanwhile") if live.streams else _("asleep: nobody watches live")


def check_words() -> dict[str, str]:
    """The checks in words."""
    return {
        "server": _("PostgreSQL"),
        "settings": _("Settings of the server"),
        "pooler": _("Pooler"),
        "listen": _("Notifications"),
        "migrations": _("Migrations"),
        "permissions": _("Permissions"),
        "clock": _("Clock"),
        "connections": _("Connections"),
        "horizon": _("Oldest transaction"),
        "replication": _("Replication"),
        "dead_rows": _("Dead rows"),
        "bloat": _("Bloat"),
        "partitions": _("Partitions"),
        "archive": _("Cold archive"),
        "workers": _("Workers"),
        "upkeep": _("Upkeep"),
        "rollups": _("Statistics"),
        "job_types": _("Job types"),
        "queues": _("Queues"),
        "unserved": _("Unserved queues"),
        "strays": _("Strays"),
        "invariants": _("Invariants"),
    }
