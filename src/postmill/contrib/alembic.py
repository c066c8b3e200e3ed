"""Postmill's schema in Alembic's revisions. Import it in `env.py`:

    from postmill.contrib.alembic import leave_postmill
    context.configure(…, include_name=leave_postmill())

Then `op.migrate_postmill()` brings the schema up to date in a revision's own transaction, `alembic revision --autogenerate`
writes that line where the schema is behind, and leaves Postmill's tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from alembic.autogenerate import comparators, renderers
from alembic.operations import MigrateOperation, Operations
from sqlalchemy import Connection

from postmill.domain.errors import PostmillError
from postmill.schema.migration import Migration, known_migrations
from postmill.schema.runner import step_sql
from postmill.schema.status import SchemaStatus, compare
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema, sql

IncludeName = Callable[[Any, str, Any], bool]

OPTION = "postmill_schema"
"""`context.configure(postmill_schema=…)`: what autogenerate looks at, where it is not `postmill`."""


def leave_postmill(include_name: IncludeName | None = None, *, schema: str = DEFAULT_SCHEMA) -> IncludeName:
    """A function for Alembic's `include_name` that passes Postmill's schema over, and asks `include_name` about the rest."""

    def include(name: str | None, kind: str, parents: Any) -> bool:
        if (name if kind == "schema" else parents.get("schema_name")) == schema:
            return False
        return include_name is None or include_name(name, kind, parents)

    return include


@Operations.register_operation("migrate_postmill")
class MigratePostmill(MigrateOperation):
    """Brings Postmill's schema up to date, in the transaction of the revision."""

    def __init__(self, to: int | None, since: int, schema: str) -> None:
        self.to, self.since, self.schema = to, since, checked_schema(schema)

    @classmethod
    def migrate_postmill(
        cls, operations: Operations, to: int | None = None, *, since: int = 0, schema: str = DEFAULT_SCHEMA
    ) -> None:
        """Bring Postmill's schema up to date, making it if it is not there.

        Args:
            to: the last of Postmill's migrations to apply; default: the last one that the installed Postmill knows.
            since: the last one that is there already. Only read offline (`--sql`); otherwise the database tells.
            schema: Postmill's schema.

        Raises:
            PostmillError: the installed Postmill does not know migration `to`.
            MigrationChanged, SchemaTooNew: nothing is applied.
        """
        operations.invoke(cls(to, since, schema))

    def reverse(self) -> MigrateOperation:
        """Postmill's schema goes forward only."""
        return KeepPostmill()

    def steps(self) -> list[Migration]:
        """The migrations that this means. Raises PostmillError."""
        known = known_migrations()
        if self.to is not None and not 1 <= self.to <= known[-1].version:
            raise PostmillError(
                f"migrate_postmill(to={self.to}): the installed Postmill knows its migrations up to"
                f" {known[-1].version}; install the version that this revision was written with, or a newer one"
            )
        return [step for step in known if self.to is None or step.version <= self.to]


@Operations.register_operation("keep_postmill")
class KeepPostmill(MigrateOperation):
    """What a downgrade does to Postmill's schema: nothing, since it goes forward only."""

    @classmethod
    def keep_postmill(cls, operations: Operations) -> None:
        """Leave Postmill's schema as it is; newer ones bear older code as long as no breaking migration came."""
        operations.invoke(cls())

    def reverse(self) -> MigrateOperation:
        """The same."""
        return self


@Operations.implementation_for(MigratePostmill)
def _migrate(operations: Operations, operation: MigratePostmill) -> None:
    context, schema = operations.migration_context, operation.schema
    begin = [sql("schema/lock", schema), sql("schema/prepare", schema)]
    if context.as_sql:
        steps = [step for step in operation.steps() if step.version > operation.since]
        for part in (*begin, *(step_sql(step, schema) for step in steps)):
            context.impl.static_output(f"{part.rstrip().rstrip(';')};\n")
        return
    conn = context.connection
    assert conn is not None
    wanted = operation.steps()
    _status(conn, schema, known_migrations()).refuse_foreign()
    if _status(conn, schema, wanted).pending:
        for part in begin:
            _run(conn, part)
        for step in _status(conn, schema, wanted).pending:  # another migrator may have been faster
            _run(conn, step_sql(step, schema))


@Operations.implementation_for(KeepPostmill)
def _keep(operations: Operations, operation: KeepPostmill) -> None:
    pass


@renderers.dispatch_for(MigratePostmill)
def _render(_: Any, operation: MigratePostmill) -> str:
    schema = f", schema={operation.schema!r}" if operation.schema != DEFAULT_SCHEMA else ""
    return f"op.migrate_postmill(to={operation.to}, since={operation.since}{schema})"


@renderers.dispatch_for(KeepPostmill)
def _render_keep(_: Any, operation: KeepPostmill) -> str:
    return "op.keep_postmill()"


@comparators.dispatch_for("schema")
def _compare(autogenerate: Any, upgrade: Any, schemas: Any) -> None:
    """Adds what Postmill's schema lacks to the revision that is being written."""
    schema = autogenerate.opts.get(OPTION, DEFAULT_SCHEMA)
    status = _status(autogenerate.connection, schema, known_migrations())
    if status.pending:
        upgrade.ops.insert(0, MigratePostmill(status.pending[-1].version, status.version, schema))


def _status(conn: Connection, schema: str, known: Sequence[Migration]) -> SchemaStatus:
    there = conn.exec_driver_sql(sql("schema/prepared", schema)).scalar()
    rows = conn.exec_driver_sql(sql("schema/applied", schema)).fetchall() if there else None
    return compare(schema, rows, known)


def _run(conn: Connection, script: str) -> None:
    """Several statements at once, none of them with parameters."""
    if conn.dialect.driver == "asyncpg":
        raise PostmillError(
            "asyncpg cannot run a script: let Alembic connect by psycopg (postgresql+psycopg://…)"
        )
    conn.exec_driver_sql(script, execution_options={"no_parameters": True})
