"""How an artifact is opened: its row, its file, and the reading that compares the two."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from postmill.artifacts.reading import AwaitedReading, Reading
from postmill.artifacts.steps import ARun, Blocking, Run, Steps, adrive, drive
from postmill.artifacts.storage import Storage
from postmill.domain.artifact import Artifact, artifact_id
from postmill.domain.errors import ArtifactGone, NotFound
from postmill.store.statement import Statement


def opening(storage: Storage, find: Statement[Artifact | None], asked: UUID | str) -> Steps[Reading]:
    """An open artifact, to be closed by whoever gets it.

    Raises:
        NotFound: there is none, or none that this caller may see.
        ArtifactGone: it has expired.
        ArtifactDamaged: its file is missing, or short and wrong.
        ArtifactStoreFailed, ArtifactStoreMissing: the store's fault.
    """
    found: Artifact | None = yield find
    artifact = readable(found, asked)
    store = yield Blocking(storage.opened)
    reading: Reading = yield Blocking(lambda: Reading(store, artifact))
    return reading


def readable(found: Artifact | None, asked: UUID | str) -> Artifact:
    """What was found, if it can be read. Raises NotFound or ArtifactGone."""
    if found is None:
        raise NotFound(f"there is no artifact {str(asked)[:300]}")
    if found.expired:
        raise ArtifactGone(f"the artifact {found.id} expired at {found.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    return found


def id_of(asked: UUID | str) -> UUID:
    """The id in what somebody gave for one. Raises NotFound."""
    found = artifact_id(asked)
    if found is None:
        raise NotFound(f"{str(asked)[:100]!r} is no artifact's id: that is a UUID, or artifact:<UUID>")
    return found


class Opening:
    """`with` gives a Reading, `async with` an AwaitedReading; each is closed at the end."""

    def __init__(self, steps: Callable[[], Steps[Reading]], run: Run, arun: ARun) -> None:
        self._steps = steps
        self._run = run
        self._arun = arun
        self._reading: Reading | None = None

    def __enter__(self) -> Reading:
        self._reading = drive(self._steps(), self._run)
        return self._reading

    def __exit__(self, *raised: object) -> None:
        if self._reading is not None:
            self._reading.close()

    async def __aenter__(self) -> AwaitedReading:
        self._reading = await adrive(self._steps(), self._arun)
        return AwaitedReading(self._reading)

    async def __aexit__(self, *raised: object) -> None:
        if self._reading is not None:
            await AwaitedReading(self._reading).close()
