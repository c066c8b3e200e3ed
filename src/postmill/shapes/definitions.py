"""Job definitions as the API writes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from postmill.shapes.base import Answer, Model

Kind = Literal["function", "command", "http"]
Category = Literal["notifications", "audit", "planning", "exports", "imports", "maintenance"]
Object = dict[str, Any]
Argv = list[str | list[str]]

# Seed 3, API contract, and a template for its command execution model.
EXAMPLE: Object = {
    "key": "sync-dropbox",
    "description": "Sync provider updates for tenant",
    "arg_schema": {
        "type": "object",
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string"},
        },
        "required": ["provider_id"],
        "additionalProperties": False,
    },
    "argv_template": ["zoltag", "sync-dropbox", "--tenant-id", "{tenant_id}"],
    "timeout_seconds": 3600,
    "max_attempts": 3,
}


class Rate(Model):
    """How often jobs may start: `count` per `seconds`, of which `burst` at once."""

    count: int = Field(ge=1, examples=[10])
    seconds: float = Field(gt=0, examples=[60])
    burst: int | None = Field(default=None, ge=1)


class DefinitionFields(Model):
    """What may be written of a definition; every field can be left out."""

    kind: Kind | None = Field(
        default=None, description="Who runs it: Python code, a program, or workers over HTTP."
    )
    description: str | None = Field(default=None, max_length=4000)
    arg_schema: Object | None = Field(default=None, description="JSON Schema (2020-12) of the payload.")
    argv_template: Argv | None = Field(
        default=None,
        description="Of a command: the program and its arguments. `{payload.name}` and `{tenant_id}` are whole arguments; "
        "a list inside is left out where one of its values is absent.",
    )
    env_allow: list[str] | None = Field(
        default=None,
        description="Environment variables that a command inherits besides PATH, HOME, LANG, LC_ALL, TZ.",
    )
    queue: str | None = Field(
        default=None, description="A queue serves either http definitions or the others."
    )
    priority: int | None = Field(default=None, description="Lower is more urgent.")
    timeout_seconds: float | None = Field(default=None, description="Null is no limit.")
    max_attempts: int | None = None
    retry: Object | None = Field(
        default=None,
        description='Retry policy, e.g. `{"kind": "exponential", "base": 5, "factor": 2, "cap": 300}`.',
    )
    on_exhausted: Literal["dead_letter", "fail"] | None = None
    idempotency: Literal["active", "queued", "window", "ttl"] | None = None
    idempotency_ttl_seconds: float | None = None
    idempotency_content: list[str] | None = Field(
        default=None,
        description="Arguments that make the content: under a held key, other content is a new job, which supersedes one that "
        "waits.",
    )
    category: Category | None = Field(
        default=None, description="Gives retry, max_attempts and idempotency where they are not named."
    )
    keep: Literal["all", "failures"] | None = None
    lane: str | None = None
    worker_limit: int | None = None
    rate: Rate | None = None
    aliases: list[str] | None = None
    replay_class: Literal["safe", "ask", "never"] | None = None
    strict_envelope: bool | None = None
    secrets: Literal["redact", "refuse"] | None = None
    secret_keys: list[str] | None = None
    encrypted: bool | None = None
    action: str | None = Field(
        default=None, max_length=2000, description="What whoever is told of a job that was given up shall do."
    )
    escalation_fields: list[str] | None = Field(
        default=None, description="Fields of the payload that he is shown."
    )
    log_fields: list[str] | None = Field(
        default=None, description="Fields of the payload that stand in each log line about a job."
    )
    budget: str | None = Field(
        default=None,
        description="A budget that is looked at before each run: where it defers, the run ends as succeeded with nothing done; "
        "where it stops, the job is given up (`budget_exhausted`).",
        examples=["ai-tagging"],
    )
    is_active: bool | None = None


class NewDefinition(DefinitionFields):
    """A definition to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    key: str = Field(min_length=1, max_length=128)


class DefinitionChanges(DefinitionFields):
    """Changes of a definition. A field with null goes back to its default."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"max_attempts": 5, "is_active": True, "version": 3}]}
    )

    release: list[str] = Field(
        default=[], description="Edited fields that are the code's again, from its next registration on."
    )
    version: int | None = Field(
        default=None, description="Refuse if the definition has another version by now."
    )


class ServedBy(Answer):
    """A live worker that serves the type. `same`: it runs what is registered."""

    worker_id: str = Field(examples=["web-1:4711:9f86d081"])
    same: bool


class Definition(Answer):
    """A job definition, and how it stands with the workers."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                EXAMPLE
                | {
                    "id": "0198f3a2-7c11-7abc-8000-000000000001",
                    "kind": "command",
                    "queue": "default",
                    "version": 1,
                }
                | {"served_by": [{"worker_id": "host:4711:0198f3a2", "same": True}], "drift": []}
            ]
        },
    )

    id: UUID
    key: str
    kind: Kind
    description: str
    arg_schema: Object
    argv_template: Argv | None = Field(description="Null also for those who do not see the platform.")
    env_allow: list[str]
    queue: str
    priority: int
    timeout_seconds: float | None
    max_attempts: int
    max_lost: int
    retry: Object | None
    on_exhausted: str
    idempotency: str | None
    idempotency_ttl_seconds: float | None
    idempotency_content: list[str] | None
    category: str | None
    keep: str
    lane: str
    worker_limit: int | None
    rate: Object | None
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
    registered: bool = Field(description="Python code has registered it; some fields are the code's.")
    version: int
    edited: list[str] = Field(description="Fields that are the operator's, which no registration changes.")
    created_at: datetime
    updated_at: datetime
    served_by: list[ServedBy] = Field(description="Empty for those who do not see the platform.")
    drift: list[Literal["unserved", "queue_unserved", "differs"]] = Field(
        description="`unserved`: no live worker serves it; `queue_unserved`: none of those claims from its queue; "
        "`differs`: one runs other code or another version."
    )


class DefinitionVersion(Answer):
    """One version of a definition: its fields at that time, and who made it."""

    version: int = Field(examples=[2])
    at: datetime
    actor_type: str
    actor_id: str | None
    via: str
    definition: Object
