"""`ctx.artifacts`: the files that a job makes, and those of its tenant that it reads."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from postmill.artifacts.opening import Opening, opening
from postmill.artifacts.putting import File, putting
from postmill.artifacts.sources import Content
from postmill.artifacts.steps import Steps, adrive, drive
from postmill.artifacts.storage import Storage
from postmill.domain.artifact import Artifact, artifact_id
from postmill.domain.signals import Canceled
from postmill.engine.fence import Fence
from postmill.engine.transaction import Transactions
from postmill.store.artifacts import Kept, begin_artifact, find_artifact, keep_artifact, read_artifacts
from postmill.store.statement import Statement

if TYPE_CHECKING:
    from postmill.engine.context import ContextLink

MOST = 1000
"""Artifacts of one job."""


class JobArtifacts:
    """Of one attempt. The methods block; those with an `a` before their name are awaited."""

    def __init__(self, fence: Fence, link: ContextLink, transactions: Transactions, storage: Storage) -> None:
        self._fence = fence
        self._link = link
        self._transactions = transactions
        self._storage = storage

    def put(
        self,
        name: str,
        content: Content,
        *,
        content_type: str | None = None,
        expires_in: timedelta | float | None = None,
    ) -> Artifact:
        """Keeps a file, piece by piece, never more than a few MiB of it in memory.

        It is there for everybody who may see it once this returns, whatever becomes of the attempt, and it takes the
        place of the job's artifact of the same name: one of an earlier attempt, or of this one. A file that is not
        whole is never seen: an error, a cancellation and the death of the process leave nothing of it.

        Args:
            name: the name of a file, without folders; at most 255 bytes.
            content: bytes, text (as UTF-8), an `os.PathLike`, a file open in binary, or an iterable of bytes;
                for `aput` also an asynchronous one.
            content_type: its media type; None: what the name's ending tells.
            expires_in: after so many seconds it goes; None: as the setting `artifacts.keep` says (30 days).

        Raises:
            ArtifactRefused, ArtifactTooLarge: it cannot be kept so; not tried again.
            ArtifactStoreFailed, ArtifactStoreMissing: the store's fault; the job is tried again.
            LeaseLost: the job is no longer this worker's, or is being completed.
            Canceled: the job should stop, and this stopped in the middle.
        """
        steps = self._putting(name, content, content_type, expires_in)
        return drive(steps, self._transactions.run, self._checkpoint)

    async def aput(
        self,
        name: str,
        content: Content,
        *,
        content_type: str | None = None,
        expires_in: timedelta | float | None = None,
    ) -> Artifact:
        """As `put`, awaited: the store is asked in threads."""
        return await adrive(self._putting(name, content, content_type, expires_in), self._transactions.arun)

    def open(self, asked: UUID | str) -> Opening:
        """An artifact to be read: by `with` in a function, by `async with` in a coroutine.

        Its size and checksum are compared while it is read, and its end is only given out where they are right.

        Args:
            asked: the id of any artifact of the job's tenant, as UUID, text or `artifact:<id>`; or the name of one of
                this job's own.

        Raises:
            NotFound: the tenant has none such. ArtifactGone: it has expired.
            ArtifactDamaged: the store has another file than was put, or none; also while it is read.
            ArtifactStoreFailed, ArtifactStoreMissing: the store's fault; the job is tried again.
        """
        steps = partial(opening, self._storage, self._find(asked), asked)
        return Opening(steps, self._transactions.run, self._transactions.arun)

    def read(self, asked: UUID | str) -> bytes:
        """The whole of an artifact, compared with its checksum; else as `open`."""
        with self.open(asked) as reading:
            return reading.read()

    async def aread(self, asked: UUID | str) -> bytes:
        """As `read`, awaited."""
        async with self.open(asked) as reading:
            return await reading.read()

    def list(self) -> list[Artifact]:
        """This job's artifacts by name, those of earlier attempts too."""
        return self._transactions.run(self._own())

    async def alist(self) -> list[Artifact]:  # type: ignore[valid-type]
        """As `list`, awaited."""
        return await self._transactions.arun(self._own())

    def _putting(
        self, name: str, content: Content, content_type: str | None, expires_in: timedelta | float | None
    ) -> Steps[Artifact]:
        fence = self._fence
        schema = self._transactions.schema
        held = (fence.job_id, fence.holder, fence.claim_no)
        file = File.of(self._storage, name, content_type, expires_in)

        def keep(id: UUID, file: File, sha256: bytes, size: int) -> Statement[Kept]:
            return keep_artifact(
                id,
                fence.tenant_id,
                held,
                file.name,
                file.content_type,
                size,
                sha256,
                file.keep,
                schema=schema,
            )

        begin = begin_artifact(fence.tenant_id, held, schema=schema)
        return putting(self._storage, file, content, begin, keep, fence.job_id)

    def _find(self, asked: UUID | str) -> Statement[Artifact | None]:
        id = artifact_id(asked)
        name = None if id is not None else str(asked)
        return find_artifact(
            self._fence.tenant_id, self._fence.job_id, id, name, schema=self._transactions.schema
        )

    def _own(self) -> Statement[list[Artifact]]:  # type: ignore[valid-type]
        return read_artifacts(self._fence.job_id, most=MOST, schema=self._transactions.schema)

    def _checkpoint(self) -> None:
        if self._link.stopping():
            raise Canceled
