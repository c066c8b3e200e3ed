"""From the row of a definition to the handler of a command."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from postmill.domain.argv import stored
from postmill.domain.policy import DEFAULT
from postmill.domain.policy_json import from_json
from postmill.engine.command_type import CommandType
from postmill.engine.guarded import Guard
from postmill.engine.stored_type import StoredType
from postmill.engine.work import Handler
from postmill.telemetry.type_counters import TypeCounters


@dataclass(frozen=True, slots=True)
class Followed:
    """A row of definitions/followed.sql."""

    key: str
    kind: str
    version: int
    queue: str
    arg_schema: str
    argv_template: str | None
    env_allow: list[str]
    timeout_seconds: float | None
    max_attempts: int
    retry: str | None
    on_exhausted: str
    keep: str
    worker_limit: int | None
    aliases: list[str]
    strict_envelope: bool
    secrets: str
    secret_keys: list[str]
    encrypted: bool
    log_fields: list[str]
    budget: str | None
    edited: list[str]


def stored_type(row: Followed, limit: int | None) -> StoredType:
    """The policies of a stored definition.

    Raises DefinitionError, ValueError or TypeError for a row that nobody checked.
    """
    options: dict[str, Any] = {
        "queue": row.queue,
        "retry": DEFAULT if row.retry is None else from_json(json.loads(row.retry)),
        "max_attempts": row.max_attempts,
        "timeout": row.timeout_seconds,
        "on_exhausted": row.on_exhausted,
        "keep": row.keep,
        "worker_limit": limit,
        "secret_keys": row.secret_keys,
        "log_fields": row.log_fields,
        "budget": row.budget,
    }
    return StoredType.of(row.key, **options)


def command_handler(row: Followed, counters: TypeCounters, limit: int | None, guard: Guard) -> Handler:
    """The handler; raises as `stored_type` does."""
    handler = Handler(stored_type(row, limit), counters, limit)
    handler.command = CommandType(
        row.key,
        row.version,
        stored(row.argv_template or "[]"),
        row.arg_schema,
        tuple(row.env_allow),
        tuple(row.secret_keys),
        guard,
    )
    return handler
