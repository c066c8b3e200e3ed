"""The database of the project: Django's connection to it, and its connection string for processes of Postmill."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from psycopg import pq
from psycopg.conninfo import make_conninfo

from postmill.contrib.django.conf import config


def connection(using: str | None = None) -> Any:
    """Django's connection to the database that holds Postmill's schema, or to the one that `using` names.

    Raises:
        ImproperlyConfigured: it is not PostgreSQL.
    """
    alias = using or config().database
    found = connections[alias]
    if found.vendor != "postgresql":
        raise ImproperlyConfigured(
            f"postmill needs PostgreSQL, but the database {alias!r} is {found.vendor}; name another by"
            ' POSTMILL = {"DATABASE": …}'
        )
    return found


def conninfo(using: str | None = None) -> str:
    """The connection string of that database, made of the project's DATABASES. Raises ImproperlyConfigured as `connection`."""
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    given = connection(using).get_connection_params()
    return make_conninfo(**{
        name: value for name, value in given.items() if name in known and value is not None
    })  # fmt: skip
