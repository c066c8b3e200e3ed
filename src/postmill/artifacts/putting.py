"""How an artifact is put: an id, its file, its row; and nothing of it if one of them fails."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn
from uuid import UUID

from postmill.artifacts.sources import Chunk, Content, checked, chunks
from postmill.artifacts.steps import Awaited, Blocking, Steps
from postmill.artifacts.storage import Storage
from postmill.artifacts.writing import Writing
from postmill.domain.artifact import Artifact, check_content_type, check_name
from postmill.domain.duration import seconds
from postmill.domain.errors import ArtifactRefused, LeaseLost, NotFound, PostmillError
from postmill.store.artifacts import Begun, Kept
from postmill.store.statement import Statement

Keep = Callable[[UUID, "File", bytes, int], Statement[Kept]]
"""Makes the statement that makes the row: of id, file, checksum and size."""


@dataclass(frozen=True, slots=True)
class File:
    """What is to be put.

    Attributes:
        name, content_type: checked.
        keep: seconds from now until it expires.
        sha256: checksum that it must have; None: any.
    """

    name: str
    content_type: str
    keep: float
    sha256: bytes | None = None

    @classmethod
    def of(
        cls,
        storage: Storage,
        name: str,
        content_type: str | None = None,
        expires_in: Any = None,
        sha256: bytes | None = None,
    ) -> File:
        """The file, if it can be put; what is not said by the settings. Raises ArtifactRefused."""
        checked_name = check_name(name)
        try:
            keep = (
                storage.settings.keep if expires_in is None else seconds(expires_in, "expires_in", zero=False)
            )
        except (TypeError, ValueError) as fault:
            raise ArtifactRefused(str(fault)) from None
        return cls(checked_name, check_content_type(content_type, checked_name), keep, sha256)


def putting(
    storage: Storage,
    file: File,
    content: Content,
    begin: Statement[Begun],
    keep: Keep,
    job_id: UUID | None = None,
) -> Steps[Artifact]:
    """Puts it. What fails, or is cancelled, leaves nothing that can be seen: neither half a file nor a row.

    Raises:
        ArtifactRefused: of another checksum, or one too many of its job.
        ArtifactTooLarge: larger than the settings allow.
        LeaseLost: the job is no longer this worker's.
        NotFound: there is no such tenant, or no such job.
        ArtifactStoreFailed, ArtifactStoreMissing: the store's fault.
    """
    begun: Begun = yield begin
    if begun.id is None or begun.tenant_id is None:
        _refuse(begun.status, job_id)
    id, tenant_id = begun.id, begun.tenant_id
    store = yield Blocking(storage.opened)
    writing: Writing = yield Blocking(lambda: Writing(store, id, tenant_id, storage.settings.max_bytes))
    try:
        yield from _written(writing, content)
        if file.sha256 is not None and file.sha256 != writing.sha256:
            raise ArtifactRefused(
                f"what came has the SHA-256 {writing.sha256.hex()}, and not {file.sha256.hex()} as announced"
            )
        yield Blocking(writing.accept)
    except GeneratorExit:
        raise
    except BaseException:
        yield Blocking(writing.discard)
        raise
    # What fails from here on may have been committed: then its file must stay. One without a row is found by upkeep.
    kept: Kept = yield keep(id, file, writing.sha256, writing.size)
    if kept.created_at is None or kept.expires_at is None:
        yield Blocking(writing.discard)
        _refuse(kept.status, job_id)
    return Artifact(
        id, tenant_id, job_id, file.name, file.content_type, writing.size, writing.sha256.hex(), kept.attempt,
        kept.created_at, kept.expires_at,
    )  # fmt: skip


def _written(writing: Writing, content: Content) -> Steps[None]:
    if isinstance(content, AsyncIterable):
        yield from _from_afar(writing, aiter(content))
        return
    found = yield Blocking(lambda: chunks(content))
    try:
        while (yield Blocking(lambda: _copied(found, writing))):
            pass
    finally:
        yield Blocking(found.close)


def _from_afar(writing: Writing, pieces: AsyncIterator[Any]) -> Steps[None]:
    try:
        while (piece := (yield Awaited(lambda: anext(pieces, None)))) is not None:
            chunk = checked(piece)
            yield Blocking(partial(writing.write, chunk))
    finally:
        if isinstance(pieces, AsyncGenerator):
            yield Awaited(pieces.aclose)


def _copied(found: Generator[Chunk], writing: Writing) -> bool:
    piece = next(found, None)
    if piece is None:
        return False
    writing.write(piece)
    return True


def _refuse(status: str, job_id: UUID | None) -> NoReturn:
    match status:
        case "full":
            raise ArtifactRefused(
                f"the job {job_id} has 1,000 artifacts, which is the most; put several files into one"
            )
        case "unknown":
            raise NotFound(f"there is no job {job_id}")
        case "over":
            raise LeaseLost(
                f"the job {job_id} is no longer this worker's, or is being completed; put artifacts before"
            )
        case "unknown_tenant":
            raise NotFound("there is no such tenant")
    raise PostmillError(f"the database answered {status!r}: is its schema newer?")
