"""One invocation of the command line: what follows from what was given for every command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import psycopg

from postmill.bind import drive, step
from postmill.bind import run as statement
from postmill.cli.database import open_connection
from postmill.cli.given import Given
from postmill.cli.output import Output
from postmill.cli.who import who
from postmill.client.address import find_store, left_by_up
from postmill.domain.errors import DatabaseMissing
from postmill.domain.settings import Settings
from postmill.domain.settings_load import load
from postmill.schema.check import check
from postmill.store.access import set_actor
from postmill.store.catalog import checked_schema
from postmill.store.flow import Flow

T = TypeVar("T")


class Run:
    """What a command's handler gets first."""

    def __init__(self, given: Given) -> None:
        self.given = given

    @cached_property
    def out(self) -> Output:
        """Where the command prints."""
        return Output(as_json=self.given.json)

    @cached_property
    def settings(self) -> Settings:
        """Settings file, environment, options; the last wins. With --cell the database is that cell's.

        Raises SettingsError, NotFound for an unknown cell.
        """
        found = load(self.given.config, overrides=self.given.overrides())
        return found if self.given.cell is None else found.in_cell(self.given.cell)

    @cached_property
    def settings_here(self) -> Settings:
        """The settings, with the store that `postmill up` left beside its database. Raises SettingsError, DatabaseMissing."""
        return self.settings.model_copy(update={"artifacts": find_store(self.dsn, self.settings)})

    @cached_property
    def schema(self) -> str:
        """The schema's name. Raises SettingsError for one that cannot be used."""
        return checked_schema(self.settings.schema_name)

    @property
    def has_database(self) -> bool:
        """Whether a database was named anywhere."""
        return bool(self.settings.dsn or left_by_up())

    @cached_property
    def dsn(self) -> str:
        """The database: option, environment, settings file, then what `postmill up` left in ./.postmill.

        Raises DatabaseMissing where none was named.
        """
        found = self.settings.dsn or left_by_up()
        if not found:
            raise DatabaseMissing("no database is configured")
        return found

    @contextmanager
    def connect(self, *, ready: bool = True) -> Iterator[psycopg.Connection[Any]]:
        """A connection in autocommit mode; with `ready` the schema must be one that we can work on.

        Raises DatabaseMissing, SchemaMissing, SchemaTooOld, SchemaTooNew.
        """
        schema = self.schema
        with open_connection(self.dsn) as conn:
            if ready:
                check(conn, schema).require()
            yield conn

    def act(self, conn: psycopg.Connection[Any], flow: Flow[T]) -> T:
        """What an operator does, in one transaction: the audit log names him, and that it was this command line."""
        with conn.transaction():
            statement(conn, set_actor("cli", "user", who(), schema=self.schema))
            return drive(conn, flow)

    def act_in_parts(self, conn: psycopg.Connection[Any], flow: Flow[T]) -> T:
        """As `act`, with a transaction for each step: of a long act that is cut short, what was done stays."""
        answer: Any = None
        while True:
            try:
                part = flow.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            with conn.transaction():
                statement(conn, set_actor("cli", "user", who(), schema=self.schema))
                answer = step(conn, part)
