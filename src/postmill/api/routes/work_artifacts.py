"""Artifacts of the jobs that HTTP workers hold: what they make, and what they are to read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Scope

from postmill.api.asked import Asked, may
from postmill.api.digests import announced
from postmill.api.downloads import download
from postmill.api.once import HEADER
from postmill.api.problems import Problem, not_found
from postmill.api.root_path import own_path
from postmill.api.routes.artifacts import CONTENT, shown
from postmill.api.routing import PREFIX, location
from postmill.artifacts.opening import readable
from postmill.artifacts.putting import File, putting
from postmill.artifacts.steps import adrive
from postmill.domain.access import Action
from postmill.domain.errors import LeaseLost
from postmill.domain.fence import read_fence
from postmill.shapes.artifacts import Artifact
from postmill.store.artifacts import (
    Fence,
    Kept,
    door_begin_artifact,
    door_held_artifact,
    door_keep_artifact,
)
from postmill.store.statement import Statement

router = APIRouter(tags=["worker"])
"""Without the routes' own class: a body is streamed, and never read twice for an Idempotency-Key."""

Worker = Annotated[Asked, Depends(may(Action.WORK))]
Token = Annotated[
    str,
    Header(
        alias="Postmill-Fence",
        min_length=1,
        max_length=200,
        description="The fence that the job was claimed with.",
        examples=["Hv8l1sG7QzqFhV0m3WkX0wAAAAAAAAAB"],
    ),
]

BODY = {
    "requestBody": {
        "required": True,
        "description": "The file, as it is; its media type is that of the request.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

_UPLOAD = re.compile(rf"{PREFIX}/worker/jobs/[^/]+/artifacts/[^/]+")


def is_upload(scope: Scope) -> bool:
    """Whether a request brings a file, for which another limit holds than for other bodies."""
    return scope["method"] == "PUT" and _UPLOAD.fullmatch(own_path(scope)) is not None


@router.put("/worker/jobs/{job_id:uuid}/artifacts/{artifact_name}", status_code=201, openapi_extra=BODY)
async def put_artifact(
    job_id: UUID,
    artifact_name: Annotated[
        str,
        Path(min_length=1, max_length=255, description="The name of a file.", examples=["planning.csv"]),
    ],
    request: Request,
    response: Response,
    asked: Worker,
    fence: Token,
    expires_in: Annotated[
        float | None,
        Query(
            gt=0, le=315360000, description="Seconds until it goes; default: `artifacts.keep` of the server."
        ),
    ] = None,
    content_digest: Annotated[
        str | None,
        Header(
            max_length=1000,
            description="The file's checksum (RFC 9530); another one is refused.",
            examples=["sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:"],
        ),
    ] = None,
) -> Artifact:
    """Keep a file that a job made, at most `artifacts.max_bytes` of the server.

    It takes the place of the job's artifact of the same name, so it may be sent again; an `Idempotency-Key` is refused.
    Renew the lease while it is sent. What does not arrive whole is never seen. 409: the fence holds no more.
    """
    if HEADER in request.headers:
        raise Problem(
            422, "invalid-request", "a file takes no Idempotency-Key: sent again, it replaces itself"
        )
    held = _held(job_id, fence)
    storage = asked.backend.storage
    content_type = request.headers.get("content-type")
    file = File.of(storage, artifact_name, content_type, expires_in, announced(content_digest))

    def keep(id: UUID, file: File, sha256: bytes, size: int) -> Statement[Kept]:
        return door_keep_artifact(
            id, held, file.name, file.content_type, size, sha256, file.keep, schema=asked.schema
        )

    begin = door_begin_artifact(held, schema=asked.schema)
    steps = putting(storage, file, _arriving(request), begin, keep, job_id)
    made = await adrive(steps, asked.run)
    response.headers["Location"] = location(request, f"/artifacts/{made.id}")
    return shown(made)


@router.get(
    "/worker/jobs/{job_id:uuid}/artifacts/{artifact_id:uuid}/content",
    response_class=Response,
    responses=CONTENT | {409: {"description": "The fence holds no more."}},
)
async def read_artifact_for_job(
    job_id: UUID, artifact_id: UUID, request: Request, asked: Worker, fence: Token
) -> Response:
    """Download an artifact that a job is to read: one of the job's tenant. 409: the fence holds no more."""
    found = await asked.run(door_held_artifact(_held(job_id, fence), artifact_id, schema=asked.schema))
    if found.status == "over":
        raise LeaseLost("this fence holds no more: the job's lease ended, or it was reported already")
    if found.artifact is None:
        raise not_found("artifact, or job")
    return await download(request, asked.backend.storage, readable(found.artifact, artifact_id))


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise Problem(400, "incomplete", "the connection broke before the whole file was there") from None


def _held(job_id: UUID, fence: str) -> Fence:
    read = read_fence(fence)
    if read is None:
        raise LeaseLost("this fence is none that was ever given")
    return job_id, *read
