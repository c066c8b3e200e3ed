"""The archive that a command is about: that of the settings with what the database knows of it, or one at any URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from pydantic import ValidationError

from postmill.archive.place import Place
from postmill.archive.reading import Wanted
from postmill.archive.storage import ArchiveStorage
from postmill.bind import drive
from postmill.cli.errors import CliError
from postmill.cli.progress import counting
from postmill.cli.run import Run
from postmill.domain.archive import MANIFEST, Manifest
from postmill.domain.errors import ArchiveDamaged
from postmill.domain.settings_archive import ArchiveSettings
from postmill.operate.archive import archived_units


class Archive:
    """Where units are, and which there are."""

    def __init__(self, run: Run, url: str | None) -> None:
        self._run = run
        self._url = url
        settings = run.settings.archive
        if url is not None:
            try:
                settings = ArchiveSettings.model_validate(
                    {"url": url, "options": settings.storage_options or None}
                )
            except ValidationError as fault:
                why = fault.errors()[0]["msg"].removeprefix("Value error, ")
                raise CliError(f"--url {why}") from None
        self._storage = ArchiveStorage(settings)

    @property
    def place(self) -> Place:
        """Raises ArchiveMissing, ArchiveFailed."""
        return self._storage.opened()

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection[Any] | None]:
        """The database that knows the units; None for an archive that was named by its URL."""
        if self._url is not None:
            yield None
            return
        with self._run.connect() as conn:
            yield conn

    def manifests(
        self, conn: psycopg.Connection[Any] | None, wanted: Wanted, source: str | None = None
    ) -> list[Manifest]:
        """Those of units that can have what is wanted, the oldest stretch first."""
        if conn is not None:
            units = drive(conn, archived_units(job=wanted.job, source=source, schema=self._run.schema))
            found = [unit.manifest for unit in units if unit.manifest is not None]
        else:
            found = self._read(source)
        return sorted((one for one in found if wanted.unit(one)), key=lambda one: (one.since, one.source))

    def _read(self, source: str | None) -> list[Manifest]:
        place = self.place
        folders = list(place.folders(source))
        found = []
        with counting(self._run.out, "manifests", len(folders)) as counted:
            for folder in folders:
                counted(1, folder)
                if MANIFEST in place.files(folder):
                    try:
                        found.append(place.manifest(folder))
                    except ArchiveDamaged as fault:
                        self._run.out.warn(str(fault), "postmill archive verify says what else is wrong")
        return found


def unit_named(manifests: list[Manifest], text: str) -> Manifest:
    """The one with this id, or the beginning of it. Raises CliError."""
    asked = text.lower().replace("-", "")
    fitting = [one for one in manifests if one.unit.hex.startswith(asked)]
    if len(fitting) != 1 or len(asked) < 8:
        raise CliError(f"{text!r} names {len(fitting)} units", "postmill archive list shows them")
    return fitting[0]


def job_named(text: str) -> UUID:
    """A whole id: what the archive has cannot be asked for beginnings. Raises CliError."""
    try:
        return UUID(text)
    except ValueError:
        raise CliError(f"{text!r} is no whole job id", "the archive is asked by whole ids") from None
