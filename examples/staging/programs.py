"""How the programs of this environment are called from here."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def program(name: str) -> str:
    """By its name if that finds it, else by its path from here."""
    beside = Path(sys.executable).with_name(name)
    if not beside.exists():
        return f"{program('python')} -m {name}" if name != "python" else sys.executable
    found = shutil.which(name)
    if found is not None and Path(found).resolve() == beside.resolve():
        return name
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)
