"""Statements on the allow-list as people read and write it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postmill.domain.enqueue_rules import EnqueueRules
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.definition_rows import (
    DefinitionVersion,
    DefinitionView,
    definition_version,
    definition_view,
)
from postmill.store.statement import Rows, Statement


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a definition that was to be made or edited.

    created | changed | unchanged | unknown | exists (detail: the name that is taken) | other_queue (detail: the
    definition of another kind in that queue) | stale (detail: its version by now) | forbidden.
    """

    status: str
    detail: str | None
    id: UUID | None = None


def enqueue_rules(
    names: Sequence[str], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[str, EnqueueRules]]:
    """What the definitions of these names (keys or aliases) ask of a job; unknown names are left out."""

    def decode(rows: Rows) -> dict[str, EnqueueRules]:
        return {row[0]: _rules(row) for row in rows}

    return Statement("enqueue_rules", sql("definitions/enqueue_rules", schema), (list(names),), decode)


def list_definitions(
    *,
    id: UUID | None = None,
    key: str | None = None,
    kind: str | None = None,
    queue: str | None = None,
    active: bool | None = None,
    after: str | None = None,
    most: int = 50,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[DefinitionView]]:
    """Definitions in the order of their keys, those after `after`."""
    args = (id, key, kind, queue, active, after, most)
    return Statement(
        "list_definitions",
        sql("definitions/list_definitions", schema),
        args,
        lambda rows: [definition_view(row[0]) for row in rows],
    )


def definition_versions(
    id: UUID, *, before: int | None = None, most: int = 50, schema: str = DEFAULT_SCHEMA
) -> Statement[list[DefinitionVersion]]:
    """The versions of a definition, the newest first."""
    return Statement(
        "definition_versions",
        sql("definitions/definition_versions", schema),
        (id, before, most),
        lambda rows: [*map(definition_version, rows)],
    )


def create_definition(
    definition: Mapping[str, Any], *, edited: Collection[str] = (), schema: str = DEFAULT_SCHEMA
) -> Statement[Written]:
    """Makes a definition; it was checked (`domain.definition`)."""
    return Statement(
        "create_definition",
        sql("definitions/create_definition", schema),
        (json.dumps(definition), list(edited)),
        lambda rows: Written(rows[0][1], rows[0][2], rows[0][0]),
    )


def edit_definition(
    id: UUID,
    changes: Mapping[str, Any],
    *,
    edited: Collection[str] = (),
    release: Collection[str] = (),
    version: int | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Written]:
    """Changes columns of a definition, if it still has this version."""
    return Statement(
        "edit_definition",
        sql("definitions/edit_definition", schema),
        (id, json.dumps(changes), list(edited), list(release), version),
        lambda rows: Written(rows[0][0], rows[0][1], id),
    )


def _rules(row: Sequence[Any]) -> EnqueueRules:
    _, key, kind, arg_schema, argv_template, asks_key, secrets, secret_keys, encrypted, version, queue = row
    return EnqueueRules(
        key, kind, arg_schema, argv_template, asks_key, secrets, tuple(secret_keys), encrypted, version, queue
    )


def version_workers(key: str, *, most: int = 11, schema: str = DEFAULT_SCHEMA) -> Statement[dict[int, int]]:
    """By version, the newest ones of a definition, how many live workers run it; empty outside of the platform."""
    return Statement(
        "read_version_workers",
        sql("definitions/read_version_workers", schema),
        (key, most),
        lambda rows: {row[0]: row[1] for row in rows},
    )
