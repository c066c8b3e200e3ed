"""The doctor's round, for who sees the platform."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Annotated, Any

import psycopg
from fastapi import Depends, Query

from postmill import connections
from postmill.api.asked import Asked, may
from postmill.api.backend import Backend
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.operate.doctor.examine import Report as Examined
from postmill.operate.doctor.examine import examine
from postmill.operate.doctor.finding import Finding as Found
from postmill.operate.doctor.probe import Probe
from postmill.shapes.doctor import Finding, Report

router = new_router("doctor")

HIDDEN = "query"
"""Other sessions' statements, which may hold anything."""


@router.get("/doctor")
async def examine_platform(
    asked: Annotated[Asked, Depends(may(Action.DOCTOR_READ))],
    only: Annotated[
        list[str] | None,
        Query(max_length=50, description="Only the check of this name, such as `workers`; may be repeated."),
    ] = None,
) -> Report:
    """Look at server, schema, workers and jobs, as `postmill doctor` does from here. One round at a time.

    The answer is 200 whatever was found; probes of the process itself are `/healthz` and `/readyz`.
    """
    backend, which, since = asked.backend, tuple(only or []), monotonic()
    async with backend.doctor:
        ended, found = backend.examined.get(which, (0.0, None))
        if found is None or ended < since:
            found = await asyncio.to_thread(examined, backend, list(which))
            backend.examined.clear()
            backend.examined[which] = (monotonic(), found)
    return Report(level=found.level.value, checks=[shown(one) for one in found.findings])


def examined(backend: Backend, only: list[str]) -> Examined:
    """A round of these checks (none: all), on connections of its own. Blocks."""
    settings = backend.settings

    def opened(dsn: str | None = settings.dsn) -> psycopg.Connection[Any]:
        return connections.connect(str(dsn), "postmill doctor")

    with opened() as conn:
        probe = Probe(
            conn,
            backend.schema,
            another=opened,
            listen=None if settings.listen_url is None else lambda: opened(settings.listen_dsn),
            prepared=settings.prepared_statements,
            notify=settings.notify,
            lease=settings.worker.lease,
            cells=settings.cells,
        )
        return examine(probe, only)


def shown(found: Found) -> Finding:
    """A finding without what other sessions' statements may hold."""
    rows = [{name: value for name, value in row.items() if name != HIDDEN} for row in found.details]
    return Finding(
        check=found.check,
        level=found.level.value,
        summary=redacted_text(found.summary),
        advice=found.advice,
        details=rows,
    )
