"""The schema as PostgreSQL sees it, in words that stay from run to run: `sql/schema.sql` is compared.

So that a reviewer sees what the migrations add up to, and no migration can change the past unseen.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from postmill.domain.errors import PostmillError
from postmill.store.catalog import DEFAULT_SCHEMA, checked_schema

# Partitions carry the day on which they were made; the dump shows their parents.
_PARTITIONS = "*_[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]_[0-9][0-9]"

# What differs between runs, versions and owners: session settings, version remarks, psql's restrict tokens.
_NOISE = re.compile(
    r"SET |SELECT pg_catalog\.set_config|\\(un)?restrict |-- Dumped |--$|-- PostgreSQL database dump"
)
_HEADING = re.compile(r"-- Name: (?P<name>.*); Type: (?P<type>.*); Schema: .*")


class DumpFailed(PostmillError):
    """pg_dump ended with an error; carries its words."""


def dump_schema(dsn: str, bindir: Path, schema: str = DEFAULT_SCHEMA) -> str:
    """The definition of everything in a schema, by the pg_dump in `bindir`, not older than the server."""
    argv = [str(bindir / "pg_dump"), "--schema-only", "--no-owner", "--no-privileges", "--dbname", dsn]
    argv += ["--schema", checked_schema(schema), "--exclude-table", f"{schema}.{_PARTITIONS}"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise DumpFailed(done.stderr.strip())
    return normalised(done.stdout)


def normalised(dump: str) -> str:
    """A dump without what differs from run to run, one blank line between statements."""
    return "\n".join(_lines(dump)) + "\n"


def _lines(dump: str) -> Iterator[str]:
    blank = True
    for line in dump.splitlines():
        if _NOISE.match(line):
            continue
        heading = _HEADING.fullmatch(line)
        if line or not blank:
            yield f"-- {heading['type']} {heading['name']}" if heading else line
        blank = not line
