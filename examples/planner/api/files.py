"""Files: what is sent to be imported, and what jobs have made."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, Response, status

from examples.planner.api.call import call, known
from examples.planner.api.shapes import JobAnswer
from examples.planner.jobs.import_availability import import_availability
from examples.planner.policy import Action
from examples.planner.submit import submit
from postmill.errors import ArtifactGone, NotFound

files = APIRouter(tags=["files"])
MOST_BYTES = 5 * 1024 * 1024


@files.post("/availability-imports", status_code=status.HTTP_202_ACCEPTED)
async def import_(request: Request, org: UUID) -> JobAnswer:
    """Imports the CSV file in the body. It is stored with its checksum first; the same content is imported once."""
    async with call(request, org, Action.IMPORT):
        pass  # who may not is not read from
    content = await _body(request)
    checksum = sha256(content).hexdigest()
    stored = await request.app.state.client.artifacts.put(
        "availability.csv", content, tenant=org, content_type="text/csv"
    )
    async with call(request, org, Action.IMPORT) as made:
        job = import_availability.new(file=stored.reference, sha256=checksum)

        async def make() -> object:
            return await submit(made.conn, made.caller, job, identity={"sha256": checksum})

        await made.note("availability.sent", f"artifact:{stored.id}", sha256=checksum)
        return JobAnswer(job_id=await made.once(request, make))  # type: ignore[arg-type]


@files.get("/artifacts/{artifact}")
async def download(request: Request, org: UUID, artifact: UUID) -> Response:
    """A file, for who may see the project of the job that made it (or the organization, where no project is)."""
    client = request.app.state.client
    async with known(request, org):
        pass  # whoever is nobody here learns nothing of what there is
    try:
        found = await client.artifacts.get(artifact)
        if found.tenant_id != org:
            raise NotFound("it is another organization's")
        project = (await client.get(found.job_id)).project_id if found.job_id else None
    except (NotFound, ArtifactGone) as gone:
        raise HTTPException(status.HTTP_404_NOT_FOUND) from gone
    async with call(request, org, Action.EXPORT if project else Action.IMPORT, project):
        content = await client.artifacts.read(artifact)
    return Response(
        content,
        media_type=found.content_type,
        headers={
            "ETag": f'"{found.sha256}"',
            "Content-Disposition": f'attachment; filename="{found.name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _body(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            raise HTTPException(status.HTTP_413_CONTENT_TOO_LARGE, f"at most {MOST_BYTES} bytes")
    return content
