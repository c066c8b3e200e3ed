"""A unit on its way into the archive: parts, each summed up while it is written, and last the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, cast
from uuid import UUID

from postmill.archive.formats import SUFFIX, Row, Sink, sink
from postmill.domain.archive import MANIFEST, Format, Manifest, Part, folder_of, span
from postmill.domain.archive_rows import Columns, liner, values_of

if TYPE_CHECKING:
    from postmill.archive.place import Place  # fsspec, which an extra brings along


@dataclass(frozen=True, slots=True)
class Unit:
    """What is to be written: see `Manifest`."""

    id: UUID
    source: str
    rule: str
    since: datetime
    until: datetime
    columns: Columns
    schema_version: int

    @property
    def folder(self) -> str:
        """Its place below the archive's own."""
        return folder_of(self.source, self.since, self.until, self.id)


@dataclass(frozen=True, slots=True)
class LeavingRow:
    """One row: whose it is, of which job, and its fields as texts."""

    tenant: str
    job: str | None
    fields: Sequence[str | None]


class Summing:
    """A file that counts and sums up what goes through it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = 0
        self.sum = hashlib.sha256()

    def write(self, chunk: bytes) -> int:
        self.sum.update(chunk)
        self.size += len(chunk)
        self._file.write(chunk)
        return len(chunk)

    def flush(self) -> None:
        """Nothing: whoever opened the file sees to it."""

    def tell(self) -> int:
        return self.size

    closed = False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing: the file is closed when it is accepted."""


class _Writing:
    """One file."""

    def __init__(self, place: Place, folder: str, name: str, format: Format, columns: Columns) -> None:
        self._place, self._folder, self.name = place, folder, name
        self._file = place.create(folder, name)
        self._summing = Summing(self._file)
        try:
            with place.trying(f"take {folder}/{name}"):
                self._sink: Sink = sink(format, columns, cast(IO[bytes], self._summing))
        except BaseException:
            self.discard()
            raise
        self._lines = hashlib.sha256()
        self.rows = 0
        self._ids: tuple[str | None, str | None] = (None, None)

    def write(self, rows: Sequence[Row], jobs: Sequence[str]) -> None:
        with self._place.trying(f"take {self._folder}/{self.name}"):
            self._sink.write(rows)
        for _, line in rows:
            self._lines.update(line)
        self.rows += len(rows)
        self._ids = span([*filter(None, self._ids), *jobs])

    def accept(self) -> Part:
        with self._place.trying(f"take {self._folder}/{self.name}"):
            self._sink.close()
        self._place.accept(self._folder, self.name, self._file)
        return Part(
            self.name, self.rows, self._summing.size, self._summing.sum.hexdigest(), self._lines.hexdigest(), *self._ids
        )  # fmt: skip

    def discard(self) -> None:
        self._place.discard(self._folder, self.name, self._file)


class UnitWriter:
    """Writes a unit. Blocks. Ends by `finish` or `discard`; until the manifest is there, nobody takes it for a unit.

    Args:
        prefix: of its files' names; another one writes a unit anew beside its old files.
    """

    def __init__(
        self, place: Place, unit: Unit, format: Format, rows_per_file: int, prefix: str = "part"
    ) -> None:
        self._place, self._unit, self._format = place, unit, format
        self._most = rows_per_file
        self._prefix = prefix
        self._values = values_of(unit.columns)
        self._line = liner(unit.columns)
        self._open: _Writing | None = None
        self._parts: list[Part] = []
        self.tenants: dict[str, int] = {}

    def write(self, rows: Sequence[LeavingRow]) -> None:
        """Appends rows as they come from the database."""
        made = []
        for row in rows:
            values = self._values(row.fields)
            made.append((row.tenant, row.job, (values, self._line(values))))
        self.write_rows(made)

    def write_rows(self, rows: Sequence[tuple[str, str | None, Row]]) -> None:
        """Appends rows: tenant, job, the row itself."""
        while rows:
            if self._open is None:
                name = f"{self._prefix}-{len(self._parts):04}.{SUFFIX[self._format]}"
                self._open = _Writing(self._place, self._unit.folder, name, self._format, self._unit.columns)
            room = self._most - self._open.rows
            some, rows = rows[:room], rows[room:]
            self._open.write([row for _, _, row in some], [job for _, job, _ in some if job])
            for tenant, _, _ in some:
                self.tenants[tenant] = self.tenants.get(tenant, 0) + 1
            if self._open.rows >= self._most:
                self._close()

    def finish(self) -> Manifest:
        """Closes the last file; the manifest, which is not written yet."""
        if self._open is not None:
            self._close()
        unit, parts = self._unit, tuple(self._parts)
        low, high = span([id for part in parts for id in (part.min_id, part.max_id) if id])
        return Manifest(
            unit.id, unit.source, unit.rule, unit.since, unit.until, unit.schema_version, self._format,
            tuple((name, kind) for name, kind in unit.columns), sum(part.rows for part in parts),
            sum(part.size for part in parts), dict(sorted(self.tenants.items())), low, high, parts,
        )  # fmt: skip

    def publish(self, manifest: Manifest) -> None:
        """Writes the manifest, and clears away what is in the folder and not in it."""
        self._place.put(manifest.folder, MANIFEST, manifest.encoded())
        named = {MANIFEST, *(part.name for part in manifest.parts)}
        for name in self._place.files(manifest.folder):
            if name not in named:
                self._place.remove(manifest.folder, name)

    def discard(self) -> None:
        """It could not be written. Files that are whole stay; the next try writes over them."""
        if self._open is not None:
            self._open.discard()
            self._open = None

    def _close(self) -> None:
        assert self._open is not None
        part = self._open.accept()
        self._open = None
        self._parts.append(part)
