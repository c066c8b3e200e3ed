"""`manage.py migrate` brings Postmill's schema up to date first, so that migrations of the project may use its functions."""

from __future__ import annotations

import sys
from typing import Any

from postmill.contrib.django.conf import config
from postmill.contrib.django.database import connection
from postmill.schema.migration import Migration
from postmill.schema.runner import migrate


def migrate_before(using: str, verbosity: int = 1, stdout: Any = None, **_: Any) -> tuple[Migration, ...]:
    """What is to be done before Django's own migrations of the database `using`; answers what was applied.

    Each of Postmill's migrations is a transaction of its own. Where POSTMILL says `"MIGRATE": False`, or another database
    is migrated, nothing is done.
    """
    found = config()
    if not found.migrate or using != found.database:
        return ()
    out = stdout or sys.stdout

    def told(step: Migration) -> None:
        if verbosity >= 1:
            out.write(f"  Applying postmill {step.version:04}_{step.name}...\n")

    conn = connection(using)
    conn.ensure_connection()
    return migrate(conn.connection, found.schema, told=told)
