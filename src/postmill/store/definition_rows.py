"""A stored definition as it is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Drift = Literal["unserved", "queue_unserved", "differs"]


@dataclass(frozen=True, slots=True)
class ServedBy:
    """A live worker that serves the type. `same`: it runs what is registered."""

    worker_id: str
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionView:
    """A job definition, and how it stands with the workers.

    Attributes:
        retry: the policy as JSON (see `policy_json`).
        registered: Python code has registered it; some fields are the code's.
        edited: fields that are an operator's, which no registration changes.
        served_by: the live workers that serve it; empty for those who do not see the platform.
        drift: where what is registered and what workers do part: `unserved`: no live worker; `queue_unserved`: none of
            those that know it claims from its queue; `differs`: one runs other code, or another version.
    """

    id: UUID
    key: str
    kind: str
    description: str
    arg_schema: dict[str, Any]
    argv_template: list[Any] | None
    env_allow: list[str]
    queue: str
    priority: int
    timeout_seconds: float | None
    max_attempts: int
    max_lost: int
    retry: dict[str, Any] | None
    on_exhausted: str
    idempotency: str | None
    idempotency_ttl_seconds: float | None
    idempotency_content: list[str] | None
    category: str | None
    keep: str
    lane: str
    worker_limit: int | None
    rate: dict[str, Any] | None
    aliases: list[str]
    replay_class: str
    strict_envelope: bool
    secrets: str
    secret_keys: list[str]
    encrypted: bool
    action: str
    escalation_fields: list[str]
    log_fields: list[str]
    budget: str | None
    is_active: bool
    registered: bool
    version: int
    edited: list[str]
    created_at: datetime
    updated_at: datetime
    served_by: list[ServedBy]
    drift: list[Drift]

    def as_written(self) -> dict[str, Any]:
        """The fields by their names, as `check_changes` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """One version of a definition: its fields at that time, and who made it."""

    version: int
    at: datetime
    actor_type: str
    actor_id: str | None
    via: str
    definition: dict[str, Any]


def definition_view(document: str) -> DefinitionView:
    """From the JSON of list_definitions.sql."""
    data: dict[str, Any] = json.loads(document)
    served = [ServedBy(**one) for one in data.pop("served_by")]
    times = {name: datetime.fromisoformat(data.pop(name)) for name in ("created_at", "updated_at")}
    return DefinitionView(**data | times | {"id": UUID(data["id"]), "served_by": served})


def definition_version(row: Sequence[Any]) -> DefinitionVersion:
    """A row of definition_versions.sql."""
    version, at, actor_type, actor_id, via, document = row
    return DefinitionVersion(version, at, actor_type, actor_id, via, json.loads(document))
