"""Triggers become payloads: rendered, and checked as their job's definition asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from postmill.client.ruling import key_ring
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import PayloadRefused, SettingsError
from postmill.domain.idempotency import stable_hash
from postmill.domain.job import NewJob
from postmill.domain.template import TemplateFailed, TemplateRefused, template_of
from postmill.store.definitions import enqueue_rules
from postmill.store.firing import Rendered
from postmill.store.flow import Flow


@dataclass(frozen=True, slots=True)
class Wanted:
    """A payload that is wanted: of which template, for which job type and tenant, from which context."""

    tenant_id: UUID
    job_type: str
    template: str
    roots: frozenset[str]
    context: Mapping[str, Any]
    correlation_id: str | None = None


def rendered(schema: str, wanted: Sequence[Wanted]) -> Flow[list[Rendered]]:
    """The payloads, in order; where there is none, why. Never raises for what a trigger is wrong about."""
    names = sorted({it.job_type for it in wanted})
    rules: dict[str, EnqueueRules] = yield enqueue_rules(names, schema=schema)
    return [_rendered(it, rules.get(it.job_type)) for it in wanted]


def _rendered(wanted: Wanted, rules: EnqueueRules | None) -> Rendered:
    try:
        payload = template_of(wanted.template, wanted.roots).render(wanted.context)
    except (TemplateRefused, TemplateFailed) as fault:
        return Rendered(outcome="failed", detail=str(fault)[:1000])
    made = NewJob(wanted.job_type, payload, tenant_id=wanted.tenant_id, correlation_id=wanted.correlation_id)
    try:
        job = rules.applied(made, key_ring) if rules is not None else made
    except (PayloadRefused, SettingsError) as fault:
        return Rendered(
            outcome="failed", detail=f"the payload does not fit {wanted.job_type}: {str(fault)[:1000]}"
        )
    return Rendered(job.payload.decode(), _hash(payload), job.key)


@lru_cache(maxsize=4096)
def _hash(payload: bytes) -> str:
    """Most schedules have a payload that never changes."""
    return stable_hash(payload)
