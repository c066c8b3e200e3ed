"""Units as people and programs read them: row by row, filtered, and compared with their checksums."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, cast
from uuid import UUID

import orjson

from postmill.archive.formats import Row, rows_in
from postmill.domain.archive import Manifest, Part
from postmill.domain.archive_rows import moment
from postmill.domain.errors import ArchiveDamaged

if TYPE_CHECKING:
    from postmill.archive.place import Place  # fsspec, which an extra brings along

Read = Callable[[int], object]
"""Told how many bytes were read."""

_MOMENTS = {"job": "created_at", "dead_letter": "failed_at", "audit_log": "at"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows; None is all. `job_type` only narrows tables that know it: bodies of jobs."""

    job: UUID | None = None
    tenant: UUID | None = None
    job_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def unit(self, manifest: Manifest) -> bool:
        """Whether the unit can have such rows."""
        return (
            (self.job is None or manifest.may_speak_of(self.job))
            and (self.tenant is None or str(self.tenant) in manifest.tenants)
            and (self.job_type is None or any(name == "job_type" for name, _ in manifest.columns))
            and (self.since is None or manifest.until > self.since)
            and (self.until is None or manifest.since < self.until)
        )

    def part(self, part: Part) -> bool:
        """Whether the file can have such rows."""
        return self.job is None or (
            part.min_id is not None
            and part.max_id is not None
            and part.min_id <= str(self.job) <= part.max_id
        )


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """A row of the archive. `line` is its JSON as it was written, with its end."""

    source: str
    unit: UUID
    line: bytes

    def values(self) -> dict[str, Any]:
        """The row as Python has it."""
        return parsed(self.line)


def parsed(line: bytes) -> dict[str, Any]:
    """A line as Python has it; longer numbers of a payload lose what a float cannot hold."""
    try:
        found = orjson.loads(line)
    except ValueError:
        found = json.loads(line)
    return found if isinstance(found, dict) else {}


def rows_of(
    place: Place, manifest: Manifest, wanted: Wanted | None = None, read: Read = lambda _: None
) -> Iterator[ArchivedRow]:
    """The rows of a unit. Raises ArchiveDamaged where a file is not what the manifest says, at its end at the latest."""
    wanted = wanted or Wanted()
    fits = _filter(manifest, wanted)
    for part in manifest.parts:
        if wanted.part(part):
            for _, line in checked(place, manifest, part, read):
                if fits is None or fits(parsed(line)):
                    yield ArchivedRow(manifest.source, manifest.unit, line)


def job_column(source: str) -> str:
    """The column with the job's id."""
    return "id" if source in ("job", "dead_letter") else "job_id"


def _filter(manifest: Manifest, wanted: Wanted) -> Callable[[dict[str, Any]], bool] | None:
    exact = {job_column(manifest.source): wanted.job, "tenant_id": wanted.tenant, "job_type": wanted.job_type}
    tests = {name: str(value) for name, value in exact.items() if value is not None}
    at = _MOMENTS.get(manifest.source, "finished_at")
    low, high = moment(wanted.since) if wanted.since else "", moment(wanted.until) if wanted.until else "~"
    if not tests and (low, high) == ("", "~"):
        return None
    return lambda row: low <= row[at] < high and all(row.get(name) == value for name, value in tests.items())


def checked(place: Place, manifest: Manifest, part: Part, read: Read = lambda _: None) -> Iterator[Row]:
    """A file's rows; what is not as it was written is told at the end at the latest.

    Raises:
        ArchiveDamaged: the file is gone, shorter, longer or another one than the manifest says.
        ArchiveFailed: the store's fault.
    """
    where = f"{manifest.folder}/{part.name}"
    lines = hashlib.sha256()
    n = 0
    file = _Reading(place.open(manifest.folder, part.name), read)
    try:
        with place.trying(f"give {where}"):
            found = file.sum()
        if found != part.sha256 or file.size != part.size:
            raise ArchiveDamaged(
                f"{where} was written with {part.size} bytes and SHA-256 {part.sha256}; it has {file.size} bytes with {found}"
            )
        with place.trying(f"give {where}"):
            file.rewind()
            for row in rows_in(manifest.format, manifest.columns, cast(IO[bytes], file.file), where):
                n += 1
                lines.update(row[1])
                yield row
    finally:
        with contextlib.suppress(Exception):
            file.file.close()
    if n != part.rows or lines.hexdigest() != part.rows_sha256:
        raise ArchiveDamaged(f"{where} has {n} rows where {part.rows} were written, or others")


class _Reading:
    """A file that is read twice: once for its checksum, and then for its rows."""

    def __init__(self, file: Any, read: Read) -> None:
        self.file = file
        self.size = 0
        self._read = read

    def sum(self) -> str:
        found = hashlib.sha256()
        while chunk := self.file.read(1 << 20):
            found.update(chunk)
            self.size += len(chunk)
            self._read(len(chunk))
        return found.hexdigest()

    def rewind(self) -> None:
        self.file.seek(0)


def verify(place: Place, manifest: Manifest, read: Read = lambda _: None) -> None:
    """Reads the whole unit and compares it with its manifest. Raises ArchiveDamaged, ArchiveFailed."""
    tenants: dict[str, int] = {}
    for part in manifest.parts:
        for _, line in checked(place, manifest, part, read):
            tenant = parsed(line).get("tenant_id") or ""
            tenants[tenant] = tenants.get(tenant, 0) + 1
    rows = sum(part.rows for part in manifest.parts)
    if rows != manifest.rows or tenants != dict(manifest.tenants):
        raise ArchiveDamaged(f"{manifest.folder} has other rows, or of others, than its manifest says")
