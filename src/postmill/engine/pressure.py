"""How short the machine, or the container, is of processor and memory: from cgroup v2 and PSI, where Linux has them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pressure:
    """Shares from 0 to 1; None: it cannot be told here.

    Attributes:
        cpu: of the last ten seconds, for how much something that could run waited for a processor.
        memory: of the memory that there is, how much is in use; page cache that can be given back does not count.
    """

    cpu: float | None = None
    memory: float | None = None


class PressureGauge:
    """Reads a handful of small files; `root` is where `proc` and `sys` are."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._proc = root / "proc"
        self._groups = self._own_groups(root / "sys/fs/cgroup")

    def read(self) -> Pressure:
        """As it is now."""
        return Pressure(self._cpu(), self._memory())

    def _own_groups(self, mount: Path) -> list[Path]:
        """The control group of this process and those around it, the innermost first."""
        text = _text(self._proc / "self/cgroup")
        path = next((line[3:] for line in text.splitlines() if line.startswith("0::/")), None)
        if path is None or not (mount / "cgroup.controllers").exists():
            return []
        own = mount / path.lstrip("/")
        if not own.is_dir():  # the path is the host's, the mount the container's
            own = mount
        return [own, *(folder for folder in own.parents if folder == mount or mount in folder.parents)]

    def _cpu(self) -> float | None:
        for file in (*(group / "cpu.pressure" for group in self._groups[:1]), self._proc / "pressure/cpu"):
            for line in _text(file).splitlines():
                if line.startswith("some avg10="):
                    return float(line.split()[1].partition("=")[2]) / 100
        words = _text(self._proc / "loadavg").split()
        if not words:
            return None
        # Without PSI: of those that could run, how many have no processor.
        load, processors = float(words[0]), os.cpu_count() or 1
        return max(0.0, 1 - processors / load) if load > 0 else 0.0

    def _memory(self) -> float | None:
        shares = [share for group in self._groups if (share := _used_of(group)) is not None]
        facts = {}
        for line in _text(self._proc / "meminfo").splitlines():
            name, _, rest = line.partition(":")
            facts[name] = float(rest.split()[0]) if rest.split() else 0.0
        if facts.get("MemTotal") and "MemAvailable" in facts:
            shares.append(1 - facts["MemAvailable"] / facts["MemTotal"])
        return max(shares, default=None)


def _used_of(group: Path) -> float | None:
    """The share of a control group's own limit; None: it has none."""
    most = _text(group / "memory.max").strip()
    current = _text(group / "memory.current").strip()
    if not most.isdigit() or not current.isdigit() or int(most) == 0:
        return None
    back = 0
    for line in _text(group / "memory.stat").splitlines():
        if line.startswith("inactive_file "):
            back = int(line.split()[1])
    return max(0, int(current) - back) / int(most)


def _text(file: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return file.read_text(encoding="ascii")
    return ""
