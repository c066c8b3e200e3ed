"""From claimed tickets to jobs that a worker can be given; what cannot be given out is ended on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.bind import adrive
from postmill.domain.arg_schema import faults
from postmill.domain.budget import Standing
from postmill.domain.errors import Undecodable, UnknownBudget
from postmill.domain.payload import decode
from postmill.engine.budgets import permitted
from postmill.engine.http_work.board import Run
from postmill.engine.http_work.outcomes import Held, Outcomes
from postmill.engine.http_work.works import work_of
from postmill.engine.refusals import refusal
from postmill.engine.reports import Report
from postmill.engine.work import TENANT, Work
from postmill.store.spending import budget_standing
from postmill.store.work import Taken, work_types
from postmill.telemetry.events import JobClaimed


@dataclass(frozen=True, slots=True)
class Given:
    """A job for a worker: its facts as the database tells them, and the payload's JSON in clear."""

    facts: dict[str, Any]
    payload: bytes
    held: Held


async def given_out(
    conn: Any, run: Run, taken: list[Taken], holder: UUID, worker_id: str, outcomes: Outcomes
) -> list[Given]:
    """The jobs that can be given out. One that is past its time or cannot be read is ended here, as in any worker."""
    jobs = [row.job for row in taken if row.job is not None]
    names = sorted({job["job_type"] for job in jobs if job.get("job_type")})
    rows: list[tuple[Any, ...]] = await run(work_types(names, schema=outcomes.schema)) if names else []
    known = outcomes.handlers.of(rows)
    permits: dict[tuple[str, bytes], list[Standing]] = {}
    given: list[Given] = []
    for job in jobs:
        name = job.get("job_type") or ""
        handler, arg_schema = known.get(name) or (outcomes.handlers.unknown(name, job["queue"]), "{}")
        work = work_of(job, holder, handler)
        held = Held(UUID(job["id"]), holder, job["claim_no"])
        handler.counters.claimed += 1
        verdicts = outcomes.verdicts(worker_id)
        report: Report | None = refusal(work)
        payload = b""
        if report is None:
            try:
                if handler.budget is not None:
                    await _within_budget(work, handler.budget, run, permits, outcomes.schema)
                payload = await _readable(work, arg_schema)
            except Exception as error:
                report = verdicts.report(work, error)
        elif report.reason == "expired":
            verdicts.expired(work)
        if report is None:
            handler.counters.started += 1
            if outcomes.bus.wants(JobClaimed):
                outcomes.bus.emit(JobClaimed(verdicts.facts(work)))
            given.append(Given(job, payload, held))
        else:
            await adrive(conn, outcomes.refuse(held, report))
    return given


async def _within_budget(
    work: Work, name: str, run: Run, looked: dict[tuple[str, bytes], list[Standing]], schema: str
) -> None:
    """As any worker does before each run; one look for all jobs of a claim that are under the same budgets."""
    place = name, bytes(work.row[TENANT])
    if place not in looked:
        tenant = UUID(bytes=work.row[TENANT])
        looked[place] = await run(budget_standing(name, tenant, door=True, schema=schema))
    if not looked[place]:
        raise UnknownBudget(name)
    permitted(looked[place][0])


async def _readable(work: Work, arg_schema: str) -> bytes:
    handler = work.handler
    assert handler is not None
    payload = work.row[7][1:] if handler.guard is None else await handler.guard.admit(work)
    found = faults(arg_schema, decode(payload))
    if found:
        raise Undecodable(handler.type.name, found)
    return bytes(payload)
