"""Statements on artifacts: what the database knows of them. Their files are the business of `postmill.artifacts`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from postmill.domain.artifact import Artifact
from postmill.domain.job_options import ActorType
from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Rows, Statement

Fence = tuple[UUID, UUID, int]
"""A job, its holder and the number of its claim."""


@dataclass(frozen=True, slots=True)
class Begun:
    """open: with the id that the file gets. over | full | unknown | unknown_tenant: it cannot be put."""

    status: str
    id: UUID | None
    tenant_id: UUID | None


@dataclass(frozen=True, slots=True)
class Kept:
    """kept: everybody sees it. over | unknown_tenant: it is not there."""

    status: str
    attempt: int | None
    created_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class HeldArtifact:
    """found | unknown | over (the job is held no more)."""

    status: str
    artifact: Artifact | None


def begin_artifact(
    tenant: UUID, fence: Fence | None = None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[Begun]:
    """Whether an artifact can be put: of the job under this fence, or one that a job is to read."""
    args = (tenant, *(fence or (None, None, None)))
    return Statement("begin_artifact", sql("artifacts/begin_artifact", schema), args, _begun)


def keep_artifact(
    id: UUID,
    tenant: UUID,
    fence: Fence | None,
    name: str,
    content_type: str,
    size: int,
    sha256: bytes,
    seconds: float,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Kept]:
    """Its file is whole: makes it visible, in the place of the job's artifact of the same name."""
    args = (id, tenant, *(fence or (None, None, None)), name, content_type, size, sha256, seconds)
    return Statement("keep_artifact", sql("artifacts/keep_artifact", schema), args, _kept)


def find_artifact(
    tenant: UUID, job: UUID, id: UUID | None, name: str | None, *, schema: str = DEFAULT_SCHEMA
) -> Statement[Artifact | None]:
    """Of this tenant: the one with this id, or the job's own of this name."""
    return Statement("find_artifact", sql("artifacts/find_artifact", schema), (tenant, job, id, name), _first)


def read_artifact(id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[Artifact | None]:
    """One within the scope, expired ones too until they are cleared away."""
    return Statement("read_artifact", sql("artifacts/read_artifact", schema), (id,), _first)


def read_artifacts(
    job: UUID | None,
    *,
    after: tuple[str, UUID] | None = None,
    most: int = 200,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[list[Artifact]]:
    """A job's, by name; None: those that no job made. `after` continues behind a name and an id."""
    args = (job, *(after or (None, None)), most)
    return Statement("read_artifacts", sql("artifacts/read_artifacts", schema), args, _all)


def door_delete_artifact(
    id: UUID,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[bool]:
    """Takes it out of sight; its file goes with the next round of upkeep. False: there is none in scope."""
    args = (id, reason, actor_type, actor_id)
    return Statement(
        "door_delete_artifact",
        sql("artifacts/door_delete_artifact", schema),
        args,
        lambda rows: bool(rows[0][0] == "deleted"),
    )


def door_begin_artifact(fence: Fence, *, schema: str = DEFAULT_SCHEMA) -> Statement[Begun]:
    """As `begin_artifact`, of a job that an HTTP worker holds."""
    return Statement("door_begin_artifact", sql("artifacts/door_begin_artifact", schema), fence, _begun)


def door_keep_artifact(
    id: UUID,
    fence: Fence,
    name: str,
    content_type: str,
    size: int,
    sha256: bytes,
    seconds: float,
    *,
    schema: str = DEFAULT_SCHEMA,
) -> Statement[Kept]:
    """As `keep_artifact`, of a job that an HTTP worker holds."""
    args = (id, *fence, name, content_type, size, sha256, seconds)
    return Statement("door_keep_artifact", sql("artifacts/door_keep_artifact", schema), args, _kept)


def door_held_artifact(fence: Fence, id: UUID, *, schema: str = DEFAULT_SCHEMA) -> Statement[HeldArtifact]:
    """What an HTTP worker may read for the job that it holds: an artifact of the job's tenant."""
    return Statement("door_held_artifact", sql("artifacts/door_held_artifact", schema), (*fence, id), _held)


def _begun(rows: Rows) -> Begun:
    return Begun(*rows[0])


def _kept(rows: Rows) -> Kept:
    return Kept(*rows[0])


def _first(rows: Rows) -> Artifact | None:
    return Artifact(*rows[0]) if rows else None


def _all(rows: Rows) -> list[Artifact]:
    return [Artifact(*row) for row in rows]


def _held(rows: Rows) -> HeldArtifact:
    status, found = rows[0]
    if found is None:
        return HeldArtifact(status, None)
    facts = json.loads(found)
    for name in ("id", "tenant_id", "job_id"):
        facts[name] = None if facts[name] is None else UUID(facts[name])
    for name in ("created_at", "expires_at"):
        facts[name] = datetime.fromisoformat(facts[name])
    return HeldArtifact(status, Artifact(**facts))
