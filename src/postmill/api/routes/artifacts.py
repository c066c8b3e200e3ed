"""Artifacts: files that jobs read or made. Their content needs the same permission as what is known of them."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request
from starlette.responses import Response

from postmill.api.asked import Asked, may
from postmill.api.downloads import download
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.problems import not_found
from postmill.api.routing import new_router
from postmill.artifacts.opening import readable
from postmill.domain.access import Action
from postmill.domain.artifact import Artifact as Stored
from postmill.shapes.artifacts import Artifact
from postmill.shapes.paging import Page
from postmill.store.artifacts import door_delete_artifact, read_artifact, read_artifacts
from postmill.store.reads import read_job_state

router = new_router("artifacts")

Read = Annotated[Asked, Depends(may(Action.ARTIFACTS_READ))]

CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "ETag": {"description": "The checksum, in quotes.", "schema": {"type": "string"}},
            "Content-Digest": {
                "description": "The checksum (RFC 9530).",
                "schema": {
                    "type": "string",
                    "examples": ["sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:"],
                },
            },
            "Content-Disposition": {
                "description": "`attachment`, with the file's name (RFC 6266).",
                "schema": {"type": "string"},
            },
        },
    },
    304: {"description": "The client has it: If-None-Match named its ETag."},
    410: {"description": "It has expired."},
    500: {"description": "What the store has is not what was put there."},
}
"""The answers of a route that gives the content."""


@router.get("/jobs/{job_id:uuid}/artifacts")
async def list_artifacts(
    job_id: UUID, asked: Read, limit: Limit = 50, cursor: Cursor = None
) -> Page[Artifact]:
    """List the artifacts of a job, by name."""
    after = None if cursor is None else parts_of(cursor, str, UUID)
    found = await asked.run(
        read_artifacts(
            job_id,
            after=None if after is None else (after[0], after[1]),
            most=limit,
            schema=asked.schema,
        )
    )
    if not found and after is None and not await asked.run(read_job_state([job_id], schema=asked.schema)):
        raise not_found("job")
    more = len(found) == limit
    return Page(
        items=[shown(one) for one in found],
        next=cursor_of(found[-1].name, found[-1].id) if more else None,
    )


@router.get("/artifacts/{artifact_id:uuid}", responses={410: {"description": "It has expired."}})
async def get_artifact(artifact_id: UUID, asked: Read) -> Artifact:
    """Show what is known of one artifact."""
    return shown(await _found(asked, artifact_id))


@router.get("/artifacts/{artifact_id:uuid}/content", response_class=Response, responses=CONTENT)
async def get_artifact_content(artifact_id: UUID, request: Request, asked: Read) -> Response:
    """Download an artifact.

    The end of the file is only sent if size and checksum of the whole are right; else the connection breaks before the
    promised `Content-Length`.
    """
    return await download(request, asked.backend.storage, await _found(asked, artifact_id))


@router.delete("/artifacts/{artifact_id:uuid}", status_code=204)
async def delete_artifact(
    artifact_id: UUID,
    asked: Annotated[Asked, Depends(may(Action.ARTIFACTS_DELETE))],
    reason: Annotated[
        str | None, Query(min_length=1, max_length=1000, description="Why; for the audit log.")
    ] = None,
) -> None:
    """Delete an artifact: nobody sees it any more, and its file goes within minutes."""
    if not await asked.run(door_delete_artifact(artifact_id, reason=reason, schema=asked.schema)):
        raise not_found("artifact")


def shown(artifact: Stored) -> Artifact:
    """An artifact in the shape of the API."""
    return Artifact(
        id=artifact.id,
        tenant_id=artifact.tenant_id,
        job_id=artifact.job_id,
        name=artifact.name,
        content_type=artifact.content_type,
        size=artifact.size,
        sha256=artifact.sha256,
        attempt=artifact.attempt,
        created_at=artifact.created_at,
        expires_at=artifact.expires_at,
        reference=artifact.reference,
    )


async def _found(asked: Asked, id: UUID) -> Stored:
    found = await asked.run(read_artifact(id, schema=asked.schema))
    if found is None:
        raise not_found("artifact")
    return readable(found, id)
