"""Artifacts: files that jobs read or made."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from postmill.http.call import Call, Id, at, get, model, nothing, write
from postmill.http.files import checked
from postmill.shapes.artifacts import Artifact
from postmill.shapes.paging import Page


def list_artifacts(
    job_id: Id, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Artifact]]:
    """The artifacts of a job, by name."""
    return get(at("jobs", job_id, "artifacts"), model(Page[Artifact]), limit=limit, cursor=cursor)


def get_artifact(artifact_id: Id) -> Call[Artifact]:
    """What is known of one artifact."""
    return get(at("artifacts", artifact_id), model(Artifact))


def get_artifact_content(artifact_id: Id) -> Call[bytes]:
    """An artifact's content, whole in memory, with the checksum compared; `save` is for large ones."""
    return get(at("artifacts", artifact_id, "content"), checked)


def delete_artifact(
    artifact_id: Id, *, reason: str | None = None, idempotency_key: str | None = None
) -> Call[None]:
    """Deletes an artifact: nobody sees it any more, and its file goes within minutes."""
    path = at("artifacts", artifact_id)
    return write("DELETE", path, nothing, key=idempotency_key, query={"reason": reason})


def put_artifact(
    job_id: Id,
    artifact_name: str,
    content: bytes | Path,
    *,
    fence: str,
    content_type: str = "application/octet-stream",
    expires_in: float | None = None,
) -> Call[Artifact]:
    """Keeps a file that a job made, sent with its checksum; it takes the place of the job's artifact of the same name.

    Args:
        job_id: the job that this worker holds.
        artifact_name: the name of a file.
        content: the bytes, or the path of a file that is read twice and not held in memory.
        fence: as the claim gave it with the job. Conflict: it holds no more.
        content_type: the media type.
        expires_in: seconds until it goes; None: as the server keeps them.
    """
    size, sum = _measured(content)
    return Call(
        "PUT",
        at("worker", "jobs", job_id, "artifacts", artifact_name),
        model(Artifact),
        {"expires_in": expires_in},
        headers={
            "Postmill-Fence": fence,
            "Content-Type": content_type,
            "Content-Length": str(size),
            "Content-Digest": f"sha-256=:{base64.b64encode(sum).decode()}:",
        },
        content=content,
    )


def read_artifact_for_job(job_id: Id, artifact_id: Id, *, fence: str) -> Call[bytes]:
    """The content of an artifact that a job is to read: one of the job's tenant. Conflict: the fence holds no more."""
    path = at("worker", "jobs", job_id, "artifacts", artifact_id, "content")
    return Call("GET", path, checked, headers={"Postmill-Fence": fence})


def _measured(content: bytes | Path) -> tuple[int, bytes]:
    if isinstance(content, bytes):
        return len(content), hashlib.sha256(content).digest()
    with content.open("rb") as file:
        return content.stat().st_size, hashlib.file_digest(file, "sha256").digest()
