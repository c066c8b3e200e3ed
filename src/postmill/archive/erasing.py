"""A unit written anew without some tenants; from the moment of its new manifest nobody reads what was theirs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from postmill.archive.formats import Row
from postmill.archive.reading import checked, job_column, parsed, verify
from postmill.archive.writing import Unit, UnitWriter
from postmill.domain.archive import Manifest

if TYPE_CHECKING:
    from postmill.archive.place import Place  # fsspec, which an extra brings along

_BATCH = 5000


def erased(place: Place, manifest: Manifest, tenants: Collection[str]) -> Manifest:
    """The unit without these tenants' rows: its new manifest. Blocks; done twice it is as done once.

    Raises ArchiveDamaged, ArchiveFailed; then the unit is as it was.
    """
    if not set(tenants) & set(manifest.tenants):
        return manifest
    unit = Unit(
        manifest.unit, manifest.source, manifest.rule, manifest.since, manifest.until, manifest.columns,
        manifest.schema_version,
    )  # fmt: skip
    job = job_column(manifest.source)
    writer = UnitWriter(place, unit, manifest.format, 1 << 62, prefix=_other(manifest))
    try:
        for part in manifest.parts:
            rows: list[tuple[str, str | None, Row]] = []
            for row in checked(place, manifest, part):
                known = parsed(row[1])
                if (known["tenant_id"] or "") not in tenants:
                    rows.append((known["tenant_id"] or "", known.get(job), row))
                if len(rows) >= _BATCH:
                    writer.write_rows(rows)
                    rows = []
            writer.write_rows(rows)
        made = writer.finish()
        verify(place, made)
    except BaseException:
        writer.discard()
        raise
    writer.publish(made)
    return made


def _other(manifest: Manifest) -> str:
    """Another beginning of names than the unit's files have now."""
    return "part" if any(part.name.startswith("less-") for part in manifest.parts) else "less"
