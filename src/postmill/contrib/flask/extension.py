"""The extension."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, current_app

from postmill.client import Client
from postmill.contrib.flask.command import postmill_command
from postmill.contrib.surrounding import surrounded
from postmill.domain.registry import Registry, Source
from postmill.store.catalog import DEFAULT_SCHEMA

NAME = "postmill"


class Postmill:
    """The extension: `.init_app(app)` takes part in an application, `.client` is the current application's client.

    Any number of applications share one, as other extensions of Flask.

    It reads of the application's config: POSTMILL_DATABASE_URL (default: as `postmill.Client` finds it), POSTMILL_SCHEMA
    (default `postmill`), POSTMILL_CONNECTIONS (default 10), POSTMILL_MODULES (what `flask postmill worker` serves).
    """

    def __init__(self, app: Flask | None = None) -> None:
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Takes part in an application, and adds the command `flask postmill` to it. Connects to nothing yet."""
        app.config.setdefault("POSTMILL_DATABASE_URL", None)
        app.config.setdefault("POSTMILL_SCHEMA", DEFAULT_SCHEMA)
        app.config.setdefault("POSTMILL_CONNECTIONS", 10)
        app.config.setdefault("POSTMILL_MODULES", [])
        app.extensions[NAME] = _Held()
        app.cli.add_command(postmill_command)

    @property
    def client(self) -> Client:
        """The current application's client, opened at its first use; safe for threads and across forks.

        Raises:
            RuntimeError: there is no application context, or `init_app` was not called.
            DatabaseMissing: no database is named.
        """
        held = current_app.extensions.get(NAME)
        if not isinstance(held, _Held):
            raise RuntimeError("this application does not know Postmill: call postmill.init_app(app)")
        if held.client is None:
            config = current_app.config
            held.client = Client(
                config["POSTMILL_DATABASE_URL"],
                schema=config["POSTMILL_SCHEMA"],
                connections=config["POSTMILL_CONNECTIONS"],
            )
        return held.client


class _Held:
    """What an application has of its own."""

    client: Client | None = None


def registry_of(app: Flask, sources: Sequence[Source]) -> Registry:
    """Job types whose handlers run within the context of an application, so that `current_app`, `db.session` work.

    Raises DefinitionError as `Registry.collect` does.
    """
    return surrounded(Registry.collect(*sources), app.app_context)
