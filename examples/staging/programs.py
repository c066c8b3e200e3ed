"""How the programs of this environment are called from here."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def program(name: str) -> str:
    """By its name if that finds it, else by its path from here, as a shell takes it."""
    beside = Path(sys.executable).with_name(name)
    if not beside.exists():
        return f"{program('python')} -m {name}" if name != "python" else shlex.quote(sys.executable)
    found = shutil.which(name)
    # By its folder: the pythons of several environments are links to one file.
    if found is not None and Path(found).parent.resolve() == beside.parent.resolve():
        return name
    return shlex.quote(os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside))


def up(example: str, data: Path) -> str:
    """What goes on with the data of a demo: database, console and a worker, by the example's own settings."""
    settings = f"examples/{example}/postmill.toml"
    return f"{program('postmill')} up examples.{example}.jobs --config {settings} --data {shlex.quote(str(data))}"
