"""What state a database's schema is in, compared with the migrations that this version of Postmill knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from postmill.domain.errors import PostmillError, SchemaMissing, SchemaTooNew, SchemaTooOld
from postmill.schema.migration import Migration, latest


class MigrationChanged(PostmillError):
    """A migration was changed after it had been applied to this database; undo the change, add a new one."""


class MigrationBreaking(PostmillError):
    """A migration that is missing is breaking, and only safe ones were asked for; nothing was applied."""


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of the table `migration`."""

    version: int
    name: str
    breaking: bool
    checksum: str


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Compared by version.

    Attributes:
        schema: its name.
        applied: what the database says, oldest first; None where the schema does not exist.
        pending: known and not applied.
        changed: applied in another wording than the one known.
        unknown: applied by a newer version of Postmill.
    """

    schema: str
    applied: tuple[Applied, ...] | None
    pending: tuple[Migration, ...]
    changed: tuple[Applied, ...]
    unknown: tuple[Applied, ...]

    @property
    def version(self) -> int:
        """The last one applied, 0 for none."""
        return max((row.version for row in self.applied or ()), default=0)

    def refuse_foreign(self) -> None:
        """Raise if migrating from here would be wrong.

        Raises:
            MigrationChanged: a migration was changed after the fact.
            SchemaTooNew: a newer version of Postmill made a breaking change.
        """
        if self.changed:
            names = ", ".join(f"{row.version:04}_{row.name}" for row in self.changed)
            raise MigrationChanged(f"already applied to schema {self.schema!r} in another wording: {names}")
        self.refuse_newer()

    def refuse_newer(self) -> None:
        """Raise if code of this version must not run on what a newer one made.

        Raises:
            SchemaTooNew: a newer version of Postmill made a breaking change.
        """
        if breaking := [row for row in self.unknown if row.breaking]:
            raise SchemaTooNew(
                f"schema {self.schema!r} is at version {self.version}; this Postmill does not know its "
                f"breaking change {breaking[0].version:04}_{breaking[0].name}: upgrade Postmill"
            )

    def refuse_breaking(self) -> None:
        """Raise if those that run on the schema now could not run on with what is missing.

        Raises:
            MigrationBreaking: names the first one.
        """
        breaking = [migration for migration in self.pending if migration.breaking]
        if breaking and self.applied:
            first = breaking[0]
            raise MigrationBreaking(
                f"{first.version:04}_{first.name} is breaking: what runs on schema {self.schema!r} now cannot run on with it;"
                " stop workers, servers and applications of the version before, then run: postmill migrate"
            )

    def require(self) -> None:
        """Raise unless this version of Postmill can work on the schema; newer safe changes are fine.

        Raises:
            SchemaMissing, SchemaTooOld: with the command that helps.
            SchemaTooNew, MigrationChanged: as in `refuse_foreign`.
        """
        if not self.applied:
            raise SchemaMissing(f"the database has no schema {self.schema!r} yet; run: postmill migrate")
        self.refuse_foreign()
        if self.pending:
            raise SchemaTooOld(
                f"schema {self.schema!r} is at version {self.version}, this Postmill needs "
                f"{latest(self.pending)}; run: postmill migrate"
            )


def compare(schema: str, rows: Sequence[Sequence[Any]] | None, known: Sequence[Migration]) -> SchemaStatus:
    """Compare the rows of the table `migration` (None: there is no such table) with the known migrations."""
    applied = None if rows is None else tuple(Applied(*row) for row in rows)
    by_version = {row.version: row for row in applied or ()}
    checksums = {migration.version: migration.checksum for migration in known}
    return SchemaStatus(
        schema=schema,
        applied=applied,
        pending=tuple(m for m in known if m.version not in by_version),
        changed=tuple(
            row for row in by_version.values() if checksums.get(row.version, row.checksum) != row.checksum
        ),
        unknown=tuple(row for row in by_version.values() if row.version not in checksums),
    )
