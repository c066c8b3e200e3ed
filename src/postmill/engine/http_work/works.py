"""A job of an HTTP worker as the engine knows claimed tickets, so that its outcomes follow the engine's own rules."""

from __future__ import annotations

from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from postmill.engine.raw import micros, raw_instant
from postmill.engine.session import Session
from postmill.engine.work import Handler, QueueSlots, Work


def work_of(facts: dict[str, Any], holder: UUID, handler: Handler | None) -> Work:
    """The ticket, from the facts that the database tells of it. `seconds`, where present: how long it runs already."""
    session = Session(lease=0.0)
    session.holder = holder
    ready, claimed = _raw(facts["ready_at"]), _raw(facts["claimed_at"])
    payload = facts.get("payload")
    row = (
        _id(facts["id"]),
        1,
        ready,
        facts["attempt"],
        facts["run"],
        facts["lost"],
        facts.get("job_type"),
        None if payload is None else b"\1" + payload.encode(),
        _id(facts["tenant_id"]),
        facts.get("max_attempts"),
        facts.get("timeout_seconds"),
        facts.get("expired", False),
        _raw(facts.get("created_at")),
        _id(facts.get("project_id")),
        facts.get("actor_type"),
        facts.get("actor_id"),
        facts.get("request_id"),
        facts.get("correlation_id"),
        facts.get("traceparent"),
        facts.get("idempotency_key"),
        _raw(facts.get("scheduled_for")),
        claimed,
    )
    started = perf_counter() - float(facts.get("seconds", 0.0))
    assert ready is not None
    assert claimed is not None
    waited = (micros(claimed) - micros(ready)) * 1e-6
    queue = QueueSlots(facts["queue"], 1)
    work = Work(row, facts["claim_no"], b"", session, handler, queue, started, started - waited)
    work.started = started
    return work


def _id(text: str | None) -> bytes | None:
    return None if text is None else UUID(text).bytes


def _raw(text: str | None) -> bytes | None:
    return None if text is None else raw_instant(datetime.fromisoformat(text))
