"""What clients, operators and the API do with artifacts, once: as steps for those that block and those that await."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from postmill.artifacts.opening import id_of, opening, readable
from postmill.artifacts.putting import File, putting
from postmill.artifacts.reading import Reading
from postmill.artifacts.sources import Content
from postmill.artifacts.steps import Blocking, Steps
from postmill.artifacts.storage import Storage
from postmill.client.checks import checked_request
from postmill.domain.artifact import Artifact
from postmill.domain.errors import NotFound
from postmill.domain.job_options import ActorType, normalize
from postmill.domain.lane import DEFAULT_TENANT
from postmill.store import artifacts as store
from postmill.store.artifacts import Kept
from postmill.store.jobs import job_state
from postmill.store.statement import Statement

PAGE = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where artifacts are: their rows and their files."""

    schema: str
    storage: Storage


def put(
    place: Place,
    name: str,
    content: Content,
    *,
    tenant: UUID | str | None = None,
    content_type: str | None = None,
    expires_in: timedelta | float | None = None,
) -> Steps[Artifact]:
    """Keeps a file that a job is to read, piece by piece; its `reference` (`artifact:<id>`) goes into the job's payload.

    Args:
        name: the name of a file, without folders; at most 255 bytes.
        content: bytes, text (as UTF-8), an `os.PathLike`, a file open in binary, or an iterable of bytes; to an
            AsyncClient also an asynchronous one.
        tenant: whose it is; None is the default tenant. Only jobs of this tenant can read it.
        content_type: its media type; None: what the name's ending tells.
        expires_in: after so many seconds it goes; None: as the setting `artifacts.keep` says (30 days).

    Raises:
        ArtifactRefused, ArtifactTooLarge: it cannot be kept so.
        ArtifactStoreFailed, ArtifactStoreMissing: the store's fault.
        NotFound: there is no such tenant.
    """
    owner = DEFAULT_TENANT if tenant is None else normalize({"tenant": tenant})["tenant_id"]
    assert isinstance(owner, UUID)
    file = File.of(place.storage, name, content_type, expires_in)

    def keep(id: UUID, file: File, sha256: bytes, size: int) -> Statement[Kept]:
        return store.keep_artifact(
            id, owner, None, file.name, file.content_type, size, sha256, file.keep, schema=place.schema
        )

    begin = store.begin_artifact(owner, schema=place.schema)
    return putting(place.storage, file, content, begin, keep)


def list_(place: Place, job_id: UUID | str | None) -> Steps[list[Artifact]]:
    """A job's artifacts by name; None: those that no job made.

    Raises:
        NotFound: there is no such job.
    """
    job = None if job_id is None else _job_id(job_id)
    found: list[Artifact] = []
    page: list[Artifact] | None = None
    while page is None or len(page) == PAGE:
        after = (found[-1].name, found[-1].id) if found else None
        page = yield store.read_artifacts(job, after=after, most=PAGE, schema=place.schema)
        found += page or []
    if not found and job is not None and not (yield job_state([job], schema=place.schema)):
        raise NotFound(f"there is no job {job}; it may be past its retention")
    return found


def get(place: Place, id: UUID | str) -> Steps[Artifact]:
    """What is known of one artifact, by its id or reference.

    Raises:
        NotFound: there is none such. ArtifactGone: it has expired.
    """
    found: Artifact | None = yield store.read_artifact(id_of(id), schema=place.schema)
    return readable(found, id)


def open_(place: Place, id: UUID | str) -> Steps[Reading]:
    """An open artifact, to be closed by whoever gets it."""
    return (yield from opening(place.storage, store.read_artifact(id_of(id), schema=place.schema), id))


def read(place: Place, id: UUID | str) -> Steps[bytes]:
    """The whole of an artifact, compared with its checksum.

    Raises:
        NotFound: there is none such. ArtifactGone: it has expired.
        ArtifactDamaged: the store has another file than was put, or none.
        ArtifactStoreFailed, ArtifactStoreMissing: the store's fault.
    """
    reading = yield from open_(place, id)
    try:
        whole: bytes = yield Blocking(reading.read)
    finally:
        yield Blocking(reading.close)
    return whole


def delete(
    place: Place,
    id: UUID | str,
    *,
    reason: str | None = None,
    actor_type: ActorType = "user",
    actor_id: str | None = None,
) -> Steps[None]:
    """Takes an artifact out of everybody's sight at once; its file goes with the next round of upkeep. Audited.

    Args:
        reason, actor_type, actor_id: why, and who, for the audit log.

    Raises:
        NotFound: there is none such.
        PayloadRefused: the reason or the actor cannot be stored; nothing was done.
    """
    given: dict[str, Any] = checked_request(reason, actor_type, actor_id)
    if not (yield store.door_delete_artifact(id_of(id), schema=place.schema, **given)):
        raise NotFound(f"there is no artifact {id}")


def _job_id(id: UUID | str) -> UUID:
    try:
        return id if isinstance(id, UUID) else UUID(id)
    except (ValueError, AttributeError, TypeError):
        raise NotFound(f"{id!r} is no job id: a job id is a UUID") from None
