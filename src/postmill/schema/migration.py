"""Migrations as they lie in the package: `sql/migrations/NNNN_words.sql`, numbered from 1 without a gap."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from postmill.domain.errors import PostmillError
from postmill.store.catalog import checked_schema

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_MARK = re.compile(r"-- postmill: (safe|breaking)")


class MigrationFaulty(PostmillError):
    """A migration file has a wrong name, number or first line."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema.

    Attributes:
        version: its number, from 1.
        name: the words of its file name.
        breaking: true if code that does not know this migration must not run on the schema after it.
        checksum: SHA-256 of the file, the same for every schema name.
        text: the SQL, with the token `{schema}`.
    """

    version: int
    name: str
    breaking: bool
    checksum: str
    text: str

    def sql(self, schema: str) -> str:
        """The SQL for one schema name."""
        return self.text.replace("{schema}", checked_schema(schema))


def read_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """Read a folder of migrations, in order.

    Raises:
        MigrationFaulty: a name other than NNNN_words.sql, a gap or double number, no mark in line 1.
    """
    found = sorted((_read(file) for file in folder.iterdir() if file.name.endswith(".sql")), key=_version)
    for expected, migration in enumerate(found, start=1):
        if migration.version != expected:
            raise MigrationFaulty(
                f"migration {expected:04} is missing or there twice, before {migration.name}"
            )
    return tuple(found)


@cache
def known_migrations() -> tuple[Migration, ...]:
    """Those that this version of Postmill brings."""
    return read_migrations(files("postmill") / "sql" / "migrations")


def latest(migrations: Iterable[Migration]) -> int:
    """The highest version among them, 0 if there is none."""
    return max((migration.version for migration in migrations), default=0)


def _version(migration: Migration) -> int:
    return migration.version


def _read(file: Traversable) -> Migration:
    name = _FILE.fullmatch(file.name)
    text = file.read_text(encoding="utf-8")
    mark = _MARK.fullmatch(text.partition("\n")[0])
    if name is None:
        raise MigrationFaulty(f"{file.name} is not named NNNN_words.sql")
    if mark is None:
        raise MigrationFaulty(
            f"the first line of {file.name} must be '-- postmill: safe' or '-- postmill: breaking'"
        )
    return Migration(
        version=int(name.group(1)),
        name=name.group(2),
        breaking=mark.group(1) == "breaking",
        checksum=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )
