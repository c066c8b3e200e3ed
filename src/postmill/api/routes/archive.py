"""The cold archive: which units there are, and what it has of a job."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query

from postmill.api.asked import Asked, may
from postmill.api.paging import Cursor, Limit, cursor_of, parts_of
from postmill.api.routing import new_router
from postmill.archive.reading import Wanted, rows_of
from postmill.artifacts.threads import in_thread
from postmill.domain.access import Action
from postmill.domain.archive import Manifest
from postmill.operate import archive as operate
from postmill.shapes.archive import ArchivedJob, ArchiveState, ArchiveSwitch, ArchiveUnit, Source, UnitStatus
from postmill.shapes.paging import Page
from postmill.store import archive as store
from postmill.store.audit import MAX_ID, MAX_TIME

router = new_router("archive")

Read = Annotated[Asked, Depends(may(Action.ARCHIVE_READ))]


@router.get("/archive")
async def list_archive(
    asked: Read,
    limit: Limit = 50,
    cursor: Cursor = None,
    source: Annotated[Source | None, Query(description="Only of this table.")] = None,
    status: Annotated[UnitStatus | None, Query(description="Only those.")] = None,
) -> Page[ArchiveUnit]:
    """Units of the archive, the latest stretch of time first; of a tenant those that have rows of it."""
    before = parts_of(cursor, datetime.fromisoformat, UUID) if cursor else (MAX_TIME, MAX_ID)
    found = await asked.run(
        store.units(
            before=(before[0], before[1]), most=limit, source=source, status=status, schema=asked.schema
        )
    )
    items = [ArchiveUnit.model_validate(unit) for unit in found]
    return Page(items=items, next=cursor_of(items[-1].until, items[-1].id) if len(items) == limit else None)


@router.get(
    "/archive/jobs/{job_id:uuid}",
    responses={500: {"description": "What the archive has is not what was written there."}},
)
async def get_archived_job(job_id: UUID, asked: Read) -> ArchivedJob:
    """What the archive has of one job, whole. That may take seconds: files are read for it."""
    units = await asked.drive(operate.archived_units(job=job_id, schema=asked.schema))
    tenant = None if asked.principal.platform else asked.principal.tenant_id
    wanted = Wanted(job=job_id, tenant=tenant)
    manifests = [unit.manifest for unit in units if unit.manifest is not None]
    found = await in_thread(lambda: _read(asked, manifests, wanted, job_id))
    found = await asked.drive(
        operate.shown(found, asked.backend.settings.encryption.ring, schema=asked.schema)
    )
    return ArchivedJob.model_validate(found)


@router.get("/archive/state")
async def get_archive_state(asked: Annotated[Asked, Depends(may(Action.RETENTION_READ))]) -> ArchiveState:
    """Whether an archive is required, and (for the platform) what waits for it."""
    return ArchiveState.model_validate(await asked.run(store.state(schema=asked.schema)))


@router.put("/archive/state")
async def switch_archive(
    body: ArchiveSwitch, asked: Annotated[Asked, Depends(may(Action.RETENTION_WRITE))]
) -> ArchiveState:
    """Require the archive, or drop what is past its retention without it."""
    await asked.drive(operate.switch(body.required, reason=body.reason, schema=asked.schema))
    return ArchiveState.model_validate(await asked.run(store.state(schema=asked.schema)))


def _read(asked: Asked, manifests: list[Manifest], wanted: Wanted, id: UUID) -> operate.ArchivedJob:
    if not manifests:
        return operate.ArchivedJob.of(id, [])
    place = asked.backend.archive.opened()
    rows = (row for one in manifests if wanted.unit(one) for row in rows_of(place, one, wanted))
    return operate.ArchivedJob.of(id, rows)
