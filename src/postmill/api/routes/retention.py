"""How long what is kept: the rules in force, and an operator's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query

from postmill.api.asked import Asked, may
from postmill.api.routing import new_router
from postmill.domain.access import Action
from postmill.operate import retention
from postmill.shapes.retention import SUBJECT_LIST, RetentionChange, RetentionRule, RetentionRules

router = new_router("retention")

Write = Annotated[Asked, Depends(may(Action.RETENTION_WRITE))]
Subject = Annotated[
    str, Path(min_length=1, max_length=100, description=f"One of {SUBJECT_LIST}.", examples=["failed"])
]
Of = Annotated[
    str | None,
    Query(min_length=1, max_length=63, description="A tenant, by slug or id; default: everybody."),
]


@router.get("/retention", operation_id="list_retention")
async def list_retention(
    asked: Annotated[Asked, Depends(may(Action.RETENTION_READ))], tenant: Of = None
) -> RetentionRules:
    """The rules in force, of everybody or of a tenant; within a tenant always its own."""
    found = await asked.drive(retention.rules(tenant, schema=asked.schema))
    return RetentionRules(items=[RetentionRule.model_validate(rule) for rule in found])


@router.put("/retention/{subject}", operation_id="set_retention")
async def set_retention(
    subject: Subject, body: RetentionChange, asked: Write, tenant: Of = None
) -> RetentionRule:
    """Keep something for another time; workers carry it out within minutes."""
    rule = retention.set_rule(
        subject, body.keep_seconds, tenant=tenant, reason=body.reason, schema=asked.schema
    )
    return RetentionRule.model_validate(await asked.drive(rule))


@router.delete("/retention/{subject}", operation_id="unset_retention")
async def unset_retention(
    subject: Subject,
    asked: Write,
    tenant: Of = None,
    reason: Annotated[
        str | None, Query(min_length=1, max_length=1000, description="Why; for the audit log.")
    ] = None,
) -> RetentionRule:
    """Take such a rule back: what the settings say, or everybody's rule, holds again."""
    rule = retention.unset_rule(subject, tenant=tenant, reason=reason, schema=asked.schema)
    return RetentionRule.model_validate(await asked.drive(rule))
