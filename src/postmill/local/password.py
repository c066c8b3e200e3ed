"""Connections by TCP need a password, since every account of the machine can reach a port."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from psycopg import sql

from postmill import connections
from postmill.local.cluster import SUPERUSER


def set_password(data: Path, dsn: str) -> None:
    """Give the superuser a password: made once, kept in `data/password`, which only its owner may read."""
    file = data / "password"
    if not file.exists():
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(24))
    statement = sql.SQL("alter role {} password {}")
    with connections.connect(dsn, "postmill up") as connection:
        connection.execute(statement.format(sql.Identifier(SUPERUSER), sql.Literal(file.read_text())))
