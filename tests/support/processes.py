"""Which processes of this machine have to do with a folder."""

from __future__ import annotations

import os
from pathlib import Path


def working_in(folder: Path) -> list[str]:
    """Those whose environment or command line names it, or that are there, or whose words go there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                places = [os.readlink(entry / name) for name in ("cwd", "fd/1", "fd/2")]
            except OSError:
                continue
            if os.fsencode(folder) in words or any(place.startswith(str(folder)) for place in places):
                found.append(words[:80].decode(errors="replace"))
    return found
