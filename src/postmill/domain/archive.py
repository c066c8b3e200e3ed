"""The cold archive: what a unit of it is, and the manifest that says so.

A unit is one table's rows of one stretch of time, in a folder of its own. Its manifest is written last and read first: a
folder without one is no unit. Source: the design's "Retention and archive"; seed 4, section 5.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from postmill.domain.errors import ArchiveDamaged

Format = Literal["ndjson", "parquet"]

SOURCES = ("job", "attempt", "outcome", "dead_letter", "audit_log")
"""Tables whose rows go to the archive."""

MANIFEST = "manifest.json"
VERSION = 1
"""Of the manifest's form."""

_MOST = 1 << 26  # bytes of a manifest


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a unit.

    Attributes:
        name: within the folder.
        rows, size: how many, and bytes.
        sha256: of the file, in hexadecimal digits.
        rows_sha256: of its rows as lines of JSON, in their order: the same whatever the format.
        min_id, max_id: of the jobs it speaks of; None where it speaks of none.
    """

    name: str
    rows: int
    size: int
    sha256: str
    rows_sha256: str
    min_id: str | None
    max_id: str | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a unit, and how to check it.

    Attributes:
        unit: its id.
        source: the table.
        rule: the retention that its files have: `archive` or `dead_letter`.
        since, until: the stretch of time; a row's moment is that of its making (job), its end (attempt, outcome), its
            failure (dead_letter) or its recording (audit_log).
        schema_version: number of the last migration when it was written.
        format: of the files.
        columns: names and PostgreSQL types of a row, in order.
        rows, size: of all files, the latter in bytes.
        tenants: rows by tenant's id; the audit log's rows of no tenant are under an empty one.
        min_id, max_id: of the jobs it speaks of.
        parts: the files.
    """

    unit: UUID
    source: str
    rule: str
    since: datetime
    until: datetime
    schema_version: int
    format: Format
    columns: tuple[tuple[str, str], ...]
    rows: int
    size: int
    tenants: Mapping[str, int]
    min_id: str | None
    max_id: str | None
    parts: tuple[Part, ...]

    @property
    def folder(self) -> str:
        """Its place below the archive's own."""
        return folder_of(self.source, self.since, self.until, self.unit)

    def may_speak_of(self, job: UUID) -> bool:
        """Whether the job's id lies between those of the unit."""
        return self.min_id is not None and self.max_id is not None and self.min_id <= str(job) <= self.max_id

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        found = asdict(self) | {"version": VERSION, "unit": str(self.unit)}
        return found | {"since": _text(self.since), "until": _text(self.until), "tenants": dict(self.tenants)}

    def encoded(self) -> bytes:
        """The file."""
        return json.dumps(self.document(), indent=1, sort_keys=True).encode() + b"\n"

    @classmethod
    def of(cls, document: object, where: str) -> Manifest:
        """Read from JSON. Raises ArchiveDamaged for what is no manifest."""
        if not isinstance(document, Mapping) or document.get("version") != VERSION:
            raise ArchiveDamaged(f"{where} is no manifest that this version can read")
        try:
            parts = tuple(Part(**part) for part in document["parts"])
            made = cls(
                UUID(document["unit"]),
                str(document["source"]),
                str(document["rule"]),
                datetime.fromisoformat(document["since"]),
                datetime.fromisoformat(document["until"]),
                int(document["schema_version"]),
                document["format"],
                tuple((str(name), str(kind)) for name, kind in document["columns"]),
                int(document["rows"]),
                int(document["size"]),
                {str(tenant): int(n) for tenant, n in document["tenants"].items()},
                document["min_id"],
                document["max_id"],
                parts,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise ArchiveDamaged(
                f"{where} is not a whole manifest: {type(fault).__name__}: {fault}"
            ) from None
        if made.format not in ("ndjson", "parquet") or made.source not in SOURCES:
            raise ArchiveDamaged(f"{where} speaks of a format or a table that this version does not know")
        for part in parts:
            if part.name != part.name.rpartition("/")[2] or part.name in ("", ".", "..", MANIFEST):
                raise ArchiveDamaged(f"{where} names a file outside of its folder: {part.name[:100]!r}")
        return made

    @classmethod
    def decoded(cls, text: bytes, where: str) -> Manifest:
        """Read from the file. Raises ArchiveDamaged."""
        try:
            document = json.loads(text) if len(text) <= _MOST else None
        except ValueError:
            document = None
        return cls.of(document, where)


def folder_of(source: str, since: datetime, until: datetime, unit: UUID) -> str:
    """The place of a unit: a folder for its table, in that one for its stretch of time."""
    return f"{source}/{since:%Y%m%dT%H%M%SZ}-{until:%Y%m%dT%H%M%SZ}-{unit.hex[-12:]}"


def span(ids: Iterable[str]) -> tuple[str | None, str | None]:
    """The smallest and the largest id."""
    known = list(ids)
    return (min(known), max(known)) if known else (None, None)


def _text(moment: datetime) -> str:
    return moment.isoformat()
