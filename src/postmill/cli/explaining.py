"""Errors for people: one clear line, what to do, and the exit code. A traceback only with --debug."""

from __future__ import annotations

import psycopg
from psycopg import errors as pg

from postmill.cli.errors import CliError, Explanation
from postmill.cli.exits import ExitCode
from postmill.cli.text import one_line
from postmill.domain import errors
from postmill.schema.status import MigrationBreaking, MigrationChanged

_OWN: tuple[tuple[type[BaseException], ExitCode, str], ...] = (
    (errors.UnknownJobType, ExitCode.NOT_FOUND, ""),
    (errors.UnknownQueue, ExitCode.NOT_FOUND, "postmill queues list shows them all"),
    (errors.NotFound, ExitCode.NOT_FOUND, ""),
    (
        errors.DatabaseMissing,
        ExitCode.NO_DATABASE,
        "give --dsn or POSTMILL_DATABASE_URL, or start one here with: postmill up",
    ),
    (errors.SchemaMissing, ExitCode.SCHEMA, "run: postmill migrate (postmill up does it by itself)"),
    (errors.SchemaTooOld, ExitCode.SCHEMA, "run: postmill migrate (postmill up does it by itself)"),
    (errors.SchemaTooNew, ExitCode.SCHEMA, "upgrade this postmill to the version that migrated the database"),
    (MigrationBreaking, ExitCode.SCHEMA, ""),
    (
        MigrationChanged,
        ExitCode.SCHEMA,
        "this version and the database do not fit together; see postmill doctor",
    ),
    (errors.ArtifactStoreMissing, ExitCode.USAGE, ""),
    (errors.ArchiveMissing, ExitCode.USAGE, ""),
    (
        errors.SettingsError,
        ExitCode.USAGE,
        "all settings, with their defaults: docs/reference/settings.md; the commonest: postmill init",
    ),
    (errors.ArtifactRefused, ExitCode.USAGE, ""),
    (errors.PayloadRefused, ExitCode.USAGE, ""),
    (errors.WorkflowRefused, ExitCode.USAGE, ""),
    (errors.EnvelopeIncomplete, ExitCode.USAGE, "on the command line: --tenant SLUG, --key KEY"),
    (errors.DefinitionError, ExitCode.USAGE, ""),
    (errors.InvalidValue, ExitCode.USAGE, ""),
    (errors.WaitTimeout, ExitCode.TIMEOUT, ""),
    (errors.ResourceFailed, ExitCode.RESOURCE, ""),
    (errors.PostmillError, ExitCode.FAILED, ""),
)

_POSTGRES: tuple[tuple[type[psycopg.Error], ExitCode, str], ...] = (
    (pg.InvalidSchemaName, ExitCode.SCHEMA, "run: postmill migrate, or name the schema with --schema"),
    (pg.UndefinedTable, ExitCode.SCHEMA, "run: postmill migrate, or name the schema with --schema"),
    (pg.UndefinedFunction, ExitCode.SCHEMA, "run: postmill migrate, or name the schema with --schema"),
    (pg.UndefinedColumn, ExitCode.SCHEMA, "run: postmill migrate"),
    (pg.InsufficientPrivilege, ExitCode.FAILED, "postmill doctor shows what this role may do"),
    (
        pg.ReadOnlySqlTransaction,
        ExitCode.NO_DATABASE,
        "this server is read-only (a standby?); use the primary",
    ),
    (pg.InvalidPassword, ExitCode.NO_DATABASE, "the server refused the user or the password of the DSN"),
    (psycopg.OperationalError, ExitCode.NO_DATABASE, "is the server running, and is the DSN right?"),
    (psycopg.Error, ExitCode.FAILED, ""),
)


def explain(error: BaseException) -> Explanation:
    """What to tell about `error`; anything unknown is a defect of ours and says how to see more."""
    name = type(error).__name__
    if isinstance(error, CliError):
        return error.explained()
    if isinstance(error, KeyboardInterrupt):
        return Explanation(ExitCode.INTERRUPTED, "Interrupted", "interrupted")
    for kind, code, hint in _OWN:
        if isinstance(error, kind):
            message = str(error) or name
            return Explanation(code, name, message, "" if hint and _says(message, hint) else hint)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return Explanation(ExitCode.FAILED, name, one_line(f"{where}{error.strerror}", 400))
    for sql_kind, code, hint in _POSTGRES:
        if isinstance(error, sql_kind):
            return Explanation(code, name, f"PostgreSQL: {one_line(error, 400)}", hint)
    return Explanation(
        ExitCode.FAILED,
        name,
        f"unexpected {name}: {one_line(error, 400)}",
        "this is a defect of Postmill; the same command with --debug shows where",
        unexpected=True,
    )


def _says(message: str, hint: str) -> bool:
    """Whether the message already names the command that the hint would name."""
    command = hint.partition("postmill ")[2].split(" (")[0].split(",")[0]
    return bool(command) and f"postmill {command}" in message
