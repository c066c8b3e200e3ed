"""Many dead letters at once: how many, of what causes, and what recovers by itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends

from postmill.api.asked import Asked, may
from postmill.api.routes.jobs import Tenant
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.domain.redaction import redacted_text
from postmill.operate import operations
from postmill.shapes.dead_statistics import DeadStatistics, RecoveryRule
from postmill.shapes.paging import Page

router = new_router("dead letters")

Read = Annotated[Asked, Depends(may(Action.DEAD_READ))]


@router.get("/dead-letters/statistics")
async def get_dead_statistics(asked: Read, tenant_id: Tenant = None) -> DeadStatistics:
    """Tell how many dead letters are open, of what causes, since when, and how fast they grow."""
    found = asdict(await asked.drive(operations.statistics(tenant=tenant_id, schema=asked.schema)))
    found["by_definition"] = found.pop("by_type")
    found["by_group"] = [
        named(one) | {"error_message": masked(one["error_message"])} for one in found["by_group"]
    ]
    return DeadStatistics.model_validate(found)


@router.get("/dead-letters/recovery-rules")
async def list_recovery_rules(asked: Read) -> Page[RecoveryRule]:
    """List the recovery rules that workers have run, and what came of them. They are the platform's: a tenant sees none."""
    found = await asked.drive(operations.recovery_rules(schema=asked.schema))
    return Page(items=[RecoveryRule.model_validate(rule) for rule in found], next=None)


def named(one: dict[str, Any]) -> dict[str, Any]:
    """The same with the API's name of a job type."""
    made = dict(one)
    made["definition_key"] = made.pop("job_type")
    return made


def masked(text: str | None) -> str | None:
    """An error's message as it may be seen."""
    return None if text is None else redacted_text(text)
